# A small image, without a network and without nixpkgs: the shell of the machine runs disk.sh. flake.nix has the image of a whole system.
derivation {
  name = "nixos-image";
  system = builtins.currentSystem;
  builder = "/bin/sh";
  args = [ ./disk.sh ];
  PATH = "/usr/bin:/bin";
  configuration = ./configuration.nix;
}
