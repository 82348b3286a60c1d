/* hnscall.exe METHOD PATH [REQUEST] : asks the Host Networking Service of the lab by hand and prints its answer. */
#include "lab.h"
#include <objbase.h>

typedef HRESULT(WINAPI *HnsCall)(const WCHAR *, const WCHAR *, const WCHAR *, WCHAR **);

int wmain(int count, WCHAR **values)
{
  if (count < 3) {
    fwprintf(stderr, L"usage: hnscall METHOD PATH [REQUEST]\n");
    return 2;
  }
  HMODULE library = LoadLibraryW(L"vmcompute.dll");
  HnsCall call = library ? (HnsCall)(void *)GetProcAddress(library, "HNSCall") : NULL;
  if (!call) {
    fwprintf(stderr, L"vmcompute.dll cannot be loaded, error %lu\n", GetLastError());
    return 1;
  }
  WCHAR *response = NULL;
  HRESULT result = call(values[1], values[2], count > 3 ? values[3] : L"", &response);
  wprintf(L"%ls\n", response ? response : L"");
  CoTaskMemFree(response);
  return SUCCEEDED(result) ? 0 : 1;
}
