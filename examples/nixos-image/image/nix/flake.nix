# The image of the whole system, for the real cloud: nix build .#image writes result/nixos.qcow2.gz or a similar name. It needs a network,
# some gigabytes, and a machine with KVM, or patience.
{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs = { self, nixpkgs }: {
    nixosConfigurations.proxy = nixpkgs.lib.nixosSystem {
      system = "x86_64-linux";
      modules = [ ./configuration.nix ];
    };
    packages.x86_64-linux.image = self.nixosConfigurations.proxy.config.system.build.digitalOceanImage;
  };
}
