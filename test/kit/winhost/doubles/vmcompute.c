/* vmcompute.dll with the one function HNSCall of the Host Networking Service (version 1 of its schema), without any networking.
 * Networks and endpoints are JSON files C:\lab\hns\networks\ID.json and C:\lab\hns\endpoints\ID.json, which tests may read and
 * write; an endpoint that was attached also has ID.attached. All calls are logged to C:\lab\hns\calls.log. While the file
 * C:\lab\faults\hns.error is there every call fails with its content. A request that is not known is an unexpected call. */
/* Of winsock, which must come before windows.h. */
#include <winsock2.h>
#include <iphlpapi.h>
#include "lab.h"
#include "json.h"
#include <objbase.h>

#define FOLDER LAB L"\\hns"
#define MAX_JSON 16384
#define MAX_ID 64

static WCHAR *copy(const WCHAR *text)
{
  size_t size = (wcslen(text) + 1) * sizeof *text;
  WCHAR *copied = CoTaskMemAlloc(size);
  memcpy(copied, text, size);
  return copied;
}

static WCHAR *succeed(const WCHAR *output)
{
  size_t size = wcslen(output) + 64;
  WCHAR *text = malloc(size * sizeof *text);
  _snwprintf(text, size, L"{\"Success\":true,\"Output\":%ls}", output);
  WCHAR *copied = copy(text);
  free(text);
  return copied;
}

static WCHAR *fail(const WCHAR *error, DWORD code)
{
  WCHAR text[1024];
  _snwprintf(text, 1024, L"{\"Success\":false,\"Error\":\"%ls\",\"ErrorCode\":%lu}", error, code);
  return copy(text);
}

static WCHAR *fail_not_found(void)
{
  return fail(L"Element not found. ", 0x80070490);
}

static void object_path(const WCHAR *kind, const WCHAR *id, WCHAR *path)
{
  _snwprintf(path, MAX_PATH, FOLDER L"\\%ls\\%ls.json", kind, id);
}

static WCHAR *read_object(const WCHAR *kind, const WCHAR *id)
{
  WCHAR path[MAX_PATH];
  object_path(kind, id, path);
  return read_text(path);
}

/* Calls the visitor for each object; the visitor may remove it. */
static void each_object(const WCHAR *kind, void (*visit)(const WCHAR *id, const WCHAR *json, void *context), void *context)
{
  WCHAR pattern[MAX_PATH];
  object_path(kind, L"*", pattern);
  WIN32_FIND_DATAW found;
  HANDLE search = FindFirstFileW(pattern, &found);
  if (search == INVALID_HANDLE_VALUE)
    return;
  do {
    found.cFileName[wcslen(found.cFileName) - wcslen(L".json")] = 0;
    WCHAR *json = read_object(kind, found.cFileName);
    if (json)
      visit(found.cFileName, json, context);
    free(json);
  } while (FindNextFileW(search, &found));
  FindClose(search);
}

static void add_to_list(const WCHAR *id, const WCHAR *json, void *context)
{
  WCHAR *list = context;
  if (wcslen(list) + wcslen(json) + 3 > MAX_JSON)
    return;
  if (wcslen(list) > 1)
    wcscat(list, L",");
  wcscat(list, json);
}

static WCHAR *list_objects(const WCHAR *kind)
{
  WCHAR list[MAX_JSON] = L"[";
  each_object(kind, add_to_list, list);
  wcscat(list, L"]");
  return succeed(list);
}

static void new_id(WCHAR *id)
{
  GUID guid;
  WCHAR text[MAX_ID];
  CoCreateGuid(&guid);
  StringFromGUID2(&guid, text, MAX_ID);
  wcscpy(id, text + 1);
  id[36] = 0;
}

/* The first IPv4 address of the host that is not its loopback. */
static void own_address(WCHAR *into)
{
  static BYTE buffer[65536];
  IP_ADAPTER_ADDRESSES *adapter = (IP_ADAPTER_ADDRESSES *)buffer;
  ULONG size = sizeof buffer;
  wcscpy(into, L"");
  if (GetAdaptersAddresses(AF_INET, 0, NULL, adapter, &size) != NO_ERROR)
    return;
  for (; adapter; adapter = adapter->Next) {
    if (adapter->IfType == IF_TYPE_SOFTWARE_LOOPBACK || !adapter->FirstUnicastAddress)
      continue;
    struct sockaddr_in *address = (struct sockaddr_in *)adapter->FirstUnicastAddress->Address.lpSockaddr;
    BYTE *bytes = (BYTE *)&address->sin_addr;
    _snwprintf(into, 16, L"%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
    return;
  }
}

static WCHAR *create_network(const WCHAR *request)
{
  WCHAR name[256], type[64] = L"", subnets[2048] = L"[]", id[MAX_ID], address[16], path[MAX_PATH];
  static WCHAR json[MAX_JSON];
  if (!find_string(request, L"Name", name, 256) || !find_string(request, L"Type", type, 64))
    return fail(L"The parameter is incorrect. ", 0x80070057);
  find_member(request, L"Subnets", subnets, 2048);
  new_id(id);
  own_address(address);
  _snwprintf(json, MAX_JSON, L"{\"ID\":\"%ls\",\"Name\":\"%ls\",\"Type\":\"%ls\",\"Subnets\":%ls,\"ManagementIP\":\"%ls\"}", id, name,
             type, subnets, address);
  object_path(L"networks", id, path);
  write_text(path, json);
  return succeed(json);
}

struct Use {
  const WCHAR *network;
  const WCHAR *address;
  BOOL taken;
};

static void look_for_use(const WCHAR *id, const WCHAR *json, void *context)
{
  struct Use *use = context;
  WCHAR network[MAX_ID], address[64];
  if (find_string(json, L"VirtualNetwork", network, MAX_ID) && find_string(json, L"IPAddress", address, 64))
    use->taken |= !_wcsicmp(network, use->network) && !wcscmp(address, use->address);
}

/* An address of the network's first subnet that no endpoint has; FALSE when there is none. The second is the first given out. */
static BOOL choose_address(const WCHAR *network, const WCHAR *subnets, WCHAR *address)
{
  WCHAR prefix[64];
  const WCHAR *first = wcschr(subnets, L'{');
  if (!first || !find_string(first, L"AddressPrefix", prefix, 64) || !wcsrchr(prefix, L'.'))
    return FALSE;
  wcsrchr(prefix, L'.')[1] = 0;
  for (int host = 2; host < 255; host++) {
    _snwprintf(address, 64, L"%ls%d", prefix, host);
    struct Use use = {network, address, FALSE};
    each_object(L"endpoints", look_for_use, &use);
    if (!use.taken)
      return TRUE;
  }
  return FALSE;
}

static WCHAR *create_endpoint(const WCHAR *request)
{
  WCHAR network[MAX_ID], name[256] = L"", network_name[256], subnets[2048], address[64], id[MAX_ID], path[MAX_PATH];
  static WCHAR json[MAX_JSON];
  if (!find_string(request, L"VirtualNetwork", network, MAX_ID))
    return fail(L"The parameter is incorrect. ", 0x80070057);
  WCHAR *owner = read_object(L"networks", network);
  if (!owner)
    return fail_not_found();
  find_string(request, L"Name", name, 256);
  find_string(owner, L"Name", network_name, 256);
  BOOL found = find_member(owner, L"Subnets", subnets, 2048) && choose_address(network, subnets, address);
  free(owner);
  if (!found)
    return fail(L"The network has no address left. ", 0x80070057);
  new_id(id);
  GUID mac;
  CoCreateGuid(&mac);
  _snwprintf(json, MAX_JSON,
             L"{\"ID\":\"%ls\",\"Name\":\"%ls\",\"VirtualNetwork\":\"%ls\",\"VirtualNetworkName\":\"%ls\",\"Policies\":[],"
             L"\"IPAddress\":\"%ls\",\"MacAddress\":\"00-15-5D-%02X-%02X-%02X\"}",
             id, name, network, network_name, address, mac.Data4[5], mac.Data4[6], mac.Data4[7]);
  object_path(L"endpoints", id, path);
  write_text(path, json);
  return succeed(json);
}

static WCHAR *attach(const WCHAR *id, const WCHAR *request)
{
  WCHAR path[MAX_PATH];
  WCHAR *json = read_object(L"endpoints", id);
  if (!json)
    return fail_not_found();
  free(json);
  _snwprintf(path, MAX_PATH, FOLDER L"\\endpoints\\%ls.attached", id);
  write_text(path, request);
  return succeed(L"{}");
}

static BOOL remove_object(const WCHAR *kind, const WCHAR *id)
{
  WCHAR path[MAX_PATH];
  _snwprintf(path, MAX_PATH, FOLDER L"\\%ls\\%ls.attached", kind, id);
  DeleteFileW(path);
  object_path(kind, id, path);
  return DeleteFileW(path);
}

static void remove_of_network(const WCHAR *id, const WCHAR *json, void *context)
{
  WCHAR network[MAX_ID];
  if (find_string(json, L"VirtualNetwork", network, MAX_ID) && !_wcsicmp(network, context))
    remove_object(L"endpoints", id);
}

/* Copies one part of a path such as /endpoints/ID/attach and gives what is behind it. */
static const WCHAR *take_part(const WCHAR *path, WCHAR *into)
{
  if (*path == L'/')
    path++;
  size_t length = wcscspn(path, L"/");
  size_t taken = length < MAX_ID ? length : MAX_ID - 1;
  wmemcpy(into, path, taken);
  into[taken] = 0;
  return path + length;
}

static WCHAR *answer(const WCHAR *method, const WCHAR *path, const WCHAR *request)
{
  WCHAR kind[MAX_ID], id[MAX_ID], action[MAX_ID];
  take_part(take_part(take_part(path, kind), id), action);
  BOOL networks = !wcscmp(kind, L"networks");
  BOOL known = networks || !wcscmp(kind, L"endpoints");
  if (known && !*action && !wcscmp(method, L"GET")) {
    if (!*id)
      return list_objects(kind);
    WCHAR *json = read_object(kind, id);
    WCHAR *response = json ? succeed(json) : fail_not_found();
    free(json);
    return response;
  }
  if (known && !*id && !wcscmp(method, L"POST"))
    return networks ? create_network(request) : create_endpoint(request);
  if (known && *id && !*action && !wcscmp(method, L"DELETE")) {
    if (!remove_object(kind, id))
      return fail_not_found();
    if (networks)
      each_object(L"endpoints", remove_of_network, id);
    return succeed(L"{}");
  }
  if (known && !networks && !wcscmp(action, L"attach") && !wcscmp(method, L"POST"))
    return attach(id, request);
  WCHAR call[1024];
  _snwprintf(call, 1024, L"HNSCall %ls %ls %ls", method, path, request);
  note_unexpected(call);
  return fail(L"The Windows lab does not know this request. ", 0x80070032);
}

__declspec(dllexport) HRESULT WINAPI HNSCall(const WCHAR *method, const WCHAR *path, const WCHAR *request, WCHAR **response)
{
  HANDLE mutex = CreateMutexW(NULL, FALSE, L"Global\\lab-hns");
  WaitForSingleObject(mutex, 30000);
  append_line(FOLDER L"\\calls.log", L"%ls %ls %ls", method, path, request ? request : L"");
  WCHAR *error = read_text(LAB L"\\faults\\hns.error");
  *response = error ? fail(error, 0x80004005) : answer(method, path, request ? request : L"");
  free(error);
  ReleaseMutex(mutex);
  CloseHandle(mutex);
  return S_OK;
}
