#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel's type information out of its image (bzImage), without booting it.
#
#   tests/tools/kernel_btf.py VMLINUZ OUT
#
# The image's header says where the compressed kernel lies (Documentation/arch/x86/boot.rst); that is an ELF file, and
# its section .BTF is what /sys/kernel/btf/vmlinux shows. For zstd it needs the command of that name.
import lzma
import struct
import subprocess
import sys
import zlib

SECTOR = 512


def payload(image):
    """The compressed kernel. Its last four bytes are its size, but for gzip, which ends with that anyway."""
    if image[0x202:0x206] != b'HdrS':
        sys.exit('this is no bzImage')
    sectors = image[0x1f1] or 4
    offset, length = struct.unpack_from('<II', image, 0x248)
    start = (sectors + 1) * SECTOR + offset
    return image[start:start + length]


def decompressed(data):
    if data.startswith(b'\x1f\x8b'):
        return zlib.decompressobj(wbits=31).decompress(data)
    if data.startswith(b'\xfd7zXZ\0'):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b'\x28\xb5\x2f\xfd'):
        return subprocess.run(['zstd', '-dcq'], input=data[:-4], stdout=subprocess.PIPE, check=True).stdout
    sys.exit(f'compressed in a way that is not known here: it begins with {data[:6].hex()}')


def section(elf, wanted):
    """The content of a section of a 64-bit ELF file."""
    table, = struct.unpack_from('<Q', elf, 0x28)
    entry_size, entries, names = struct.unpack_from('<HHH', elf, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', elf, table + i * entry_size) for i in range(entries)]
    for name, _, _, _, offset, size in headers:
        start = headers[names][4] + name
        if elf[start:elf.index(b'\0', start)] == wanted:
            return elf[offset:offset + size]
    sys.exit(f'no section {wanted.decode()}')


def main():
    with open(sys.argv[1], 'rb') as image, open(sys.argv[2], 'wb') as out:
        out.write(section(decompressed(payload(image.read())), b'.BTF'))


if __name__ == '__main__':
    main()
