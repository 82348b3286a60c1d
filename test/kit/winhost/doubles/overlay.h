/* What the double of hybrid-overlay-node does beside running: it makes two networks of the Host Networking Service, the subnet
 * being the content of C:\lab\hns\subnet (10.132.0.0/24 without), after as many milliseconds as C:\lab\hns\delay says. */
#ifndef OVERLAY_H
#define OVERLAY_H

#include "lab.h"
#include <objbase.h>

typedef HRESULT(WINAPI *HnsCall)(const WCHAR *, const WCHAR *, const WCHAR *, WCHAR **);

static void make_network(HnsCall call, const WCHAR *existing, const WCHAR *network, const WCHAR *subnet)
{
  WCHAR quoted[128], gateway[64], request[1024];
  _snwprintf(quoted, 128, L"\"%ls\"", network);
  if (wcsstr(existing, quoted))
    return;
  wcsncpy(gateway, subnet, 63);
  /* The first address of the subnet. */
  WCHAR *last_dot = wcsrchr(gateway, L'.');
  if (last_dot)
    wcscpy(last_dot, L".1");
  _snwprintf(request, 1024,
             L"{\"Name\":\"%ls\",\"Type\":\"Overlay\",\"Subnets\":[{\"AddressPrefix\":\"%ls\",\"GatewayAddress\":\"%ls\"}]}", network,
             subnet, gateway);
  WCHAR *response = NULL;
  call(L"POST", L"/networks", request, &response);
  CoTaskMemFree(response);
}

static DWORD WINAPI make_overlay_networks(void *unused)
{
  WCHAR *delay = read_text(LAB L"\\hns\\delay");
  WCHAR *subnet = read_text(LAB L"\\hns\\subnet");
  HMODULE library = LoadLibraryW(L"vmcompute.dll");
  HnsCall call = library ? (HnsCall)(void *)GetProcAddress(library, "HNSCall") : NULL;
  WCHAR *existing = NULL;
  Sleep(delay ? _wtoi(delay) : 0);
  if (call && SUCCEEDED(call(L"GET", L"/networks", L"", &existing)) && existing) {
    make_network(call, existing, L"BaseOVNKubernetesHybridOverlayNetwork", L"192.168.255.0/30");
    make_network(call, existing, L"OVNKubernetesHybridOverlayNetwork", subnet ? subnet : L"10.132.0.0/24");
  }
  CoTaskMemFree(existing);
  free(delay);
  free(subnet);
  return 0;
}

#endif
