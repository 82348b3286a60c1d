/* routerow.exe HEX : prints a MIB_IPFORWARD_ROW2 that is given as bytes in hex, with the layout that the C compiler gives it. */
#include <winsock2.h>
#include <ws2tcpip.h>
#include <iphlpapi.h>
#include <stdio.h>

static void print_address(const char *name, const SOCKADDR_INET *address)
{
  const BYTE *bytes = (const BYTE *)&address->Ipv4.sin_addr;
  printf("\"%s\":\"%u.%u.%u.%u\",", name, bytes[0], bytes[1], bytes[2], bytes[3]);
}

int wmain(int count, WCHAR **values)
{
  MIB_IPFORWARD_ROW2 row;
  if (count != 2 || wcslen(values[1]) != 2 * sizeof row) {
    fwprintf(stderr, L"usage: routerow HEX, of %u bytes\n", (unsigned)sizeof row);
    return 2;
  }
  for (size_t at = 0; at < sizeof row; at++) {
    WCHAR digits[3] = {values[1][2 * at], values[1][2 * at + 1], 0};
    ((BYTE *)&row)[at] = (BYTE)wcstoul(digits, NULL, 16);
  }
  const IP_ADDRESS_PREFIX *prefix = &row.DestinationPrefix;
  printf("{");
  print_address("destination", &prefix->Prefix);
  print_address("gateway", &row.NextHop);
  printf("\"luid\":%llu,\"index\":%lu,\"families\":[%u,%u],\"prefixLength\":%u,\"sitePrefixLength\":%u,", row.InterfaceLuid.Value,
         row.InterfaceIndex, prefix->Prefix.si_family, row.NextHop.si_family, prefix->PrefixLength, row.SitePrefixLength);
  printf("\"lifetimes\":[%lu,%lu],\"metric\":%lu,\"protocol\":%d,", row.ValidLifetime, row.PreferredLifetime, row.Metric,
         (int)row.Protocol);
  printf("\"loopback\":%u,\"autoconfigured\":%u,\"published\":%u,\"immortal\":%u,\"age\":%lu,\"origin\":%d}\n", row.Loopback,
         row.AutoconfigureAddress, row.Publish, row.Immortal, row.Age, (int)row.Origin);
  return 0;
}
