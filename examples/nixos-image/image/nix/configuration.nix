# The system that the image holds.
{ modulesPath, pkgs, ... }: {
  imports = [ "${modulesPath}/virtualisation/digital-ocean-image.nix" ];

  networking.hostName = "proxy";
  networking.firewall.allowedTCPPorts = [ 80 ];
  services.nginx = {
    enable = true;
    virtualHosts.default.locations."/".return = "200 'hello\n'";
  };

  system.stateVersion = "25.11";
}
