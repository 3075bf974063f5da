# Writes the smallest image that a cloud imports into $out: a disk of 1 MiB with a boot sector, and in it the configuration that it was made of.
# It gives the same bytes for the same configuration, under Nix and without it.
set -eu
mkdir -p "$out"
{
  # A boot sector ends with 55 AA. This one only says what it is.
  printf '%-510.510s\125\252' 'This is an example: nothing boots from it.'
  head -c 1048064 "$configuration"
  head -c 1048064 /dev/zero
} | head -c 1048576 | gzip -n > "$out/nixos.img.gz"
