#!/usr/bin/env bash
# gpu_bundle.sh BUILD OUT: packs the program, plug-in, GPU tests and benchmark of a build tree with the libraries that
# they need, except glibc, libstdc++ and CUDA. The archive runs without root on any machine with an NVIDIA driver and the
# CUDA libraries: ./run.sh doctor, tests, sanitize, bench.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
out=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bundle=$folder/widelimit-gpu
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/golden" "$bundle/peers" "$bundle/licences"

for program in widelimit cuda_tests bench_cuda libwidelimit_cuda.so; do
  strip -o "$bundle/bin/$program" "$build/bin/$program"
done
cp tests/golden/open_{vector,image,graph,uci}.* tests/golden/{near_parallel,quadrature}.json "$bundle/golden/"
cp bench/peers/{peer_protocol,cusolver_potrf,jax_fc,torch_empirical_ntk}.py "$bundle/peers/"

openblas=$(strings "$build/bin/widelimit" | sed -n '/openblas.*\/libopenblas.so.0$/p' | sort -u)

# Copies a library with the licence of its Debian package, which may list it below / instead of /usr.
bring() {
  local file package
  cp -L "$1" "$bundle/lib/$2"
  file=$(realpath "$1")
  package=$({ dpkg-query --search "$file" "${file#/usr}" 2>/dev/null || true; } | head -n 1 | cut -d: -f1)
  [ -z "$package" ] || cp -L "/usr/share/doc/$package/copyright" "$bundle/licences/$package"
}
cp LICENSE "$bundle/licences/widelimit"
bring "$openblas" libopenblas.so.0
# ICU, used only for the XML of one archive format, is larger than everything else: a stub replaces libxml2.
libraries=$(ldd "$build/bin/widelimit" "$build/bin/cuda_tests" "$build/bin/bench_cuda" "$openblas" | awk '$3 ~ /^\// {print $3}' | sort -u)
for library in $libraries; do
  case $(basename "$library") in
    libc.so* | libm.so* | libresolv.so* | libstdc++.so* | libgcc_s.so* | libicu* | libxml2.so*) ;;
    *) bring "$library" "$(basename "$library")" ;;
  esac
done
archive=$(ldd "$build/bin/widelimit" | awk '/libarchive/ {print $3}')
nm -D --undefined-only "$archive" | awk '$2 ~ /@LIBXML2/ {sub("@+", " ", $2); print $2}' | sort -k 2 >"$folder/xml"
awk '{print "void " $1 "(void) {}"}' "$folder/xml" >"$folder/xml.c"
awk '$2 != version {if (version) print "};"; version = $2; print version " {"} {print $1 ";"} END {print "};"}' \
  "$folder/xml" >"$folder/xml.map"
cc -shared -fPIC -w -Wl,-soname,libxml2.so.2 -Wl,--version-script="$folder/xml.map" -o "$bundle/lib/libxml2.so.2" \
  "$folder/xml.c"

cp scripts/gpu_run.sh "$bundle/run.sh"
mkdir -p "$(dirname "$out")"
tar -C "$folder" -c widelimit-gpu | xz -T0 -6 >"$out"
bytes=$(stat -c %s "$out")
echo "$out: $((bytes / 1000000)) MB"
if [ "$bytes" -gt 30000000 ]; then
  echo "$out is larger than 30 MB" >&2
  exit 1
fi
