/* Keeps a simulated Windows host switched on.
 *   hostd.exe            runs for ever, because Wine ends all services when the last process of a user ends. Once it runs it
 *                        writes C:\lab\host\up, on which the supervisor opens the door for SSH.
 *   hostd.exe service    the same program as the first service of every boot: holds the semaphore under which Wine copies the
 *                        certificates of Linux into the machine's root store. Otherwise every new process would copy them
 *                        and throw away the certificates that were put there by the agent. */
#include "lab.h"

static WCHAR service_name[] = L"winekeeper";
static SERVICE_STATUS_HANDLE service;
static HANDLE stop_event;

static void report(DWORD state)
{
  SERVICE_STATUS status = {0};
  status.dwServiceType = SERVICE_WIN32_OWN_PROCESS;
  status.dwCurrentState = state;
  status.dwControlsAccepted = state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP : 0;
  SetServiceStatus(service, &status);
}

static DWORD WINAPI handle_control(DWORD control, DWORD type, void *data, void *context)
{
  if (control == SERVICE_CONTROL_STOP) {
    report(SERVICE_STOP_PENDING);
    SetEvent(stop_event);
  }
  return NO_ERROR;
}

static void WINAPI service_main(DWORD count, WCHAR **values)
{
  stop_event = CreateEventW(NULL, TRUE, FALSE, NULL);
  service = RegisterServiceCtrlHandlerExW(service_name, handle_control, NULL);
  CreateSemaphoreW(NULL, 1, 1, L"crypt32_root_semaphore");
  report(SERVICE_RUNNING);
  WaitForSingleObject(stop_event, INFINITE);
  report(SERVICE_STOPPED);
}

static BOOL WINAPI ignore_console(DWORD event)
{
  return TRUE;
}

/* What Windows does with features at boot: those that were to be enabled are. */
static void finish_features(void)
{
  WIN32_FIND_DATAW found;
  HANDLE search = FindFirstFileW(LAB L"\\features\\*", &found);
  if (search == INVALID_HANDLE_VALUE)
    return;
  do {
    WCHAR path[MAX_PATH];
    _snwprintf(path, MAX_PATH, LAB L"\\features\\%ls", found.cFileName);
    WCHAR *state = read_text(path);
    if (state && wcsstr(state, L"Enable Pending"))
      write_text(path, L"Enabled");
    free(state);
  } while (FindNextFileW(search, &found));
  FindClose(search);
}

int wmain(int count, WCHAR **values)
{
  if (count > 1 && !wcscmp(values[1], L"service")) {
    SERVICE_TABLE_ENTRYW table[] = {{service_name, service_main}, {NULL, NULL}};
    return !StartServiceCtrlDispatcherW(table);
  }
  SetConsoleCtrlHandler(ignore_console, TRUE);
  finish_features();
  write_text(LAB L"\\host\\up", L"up");
  Sleep(INFINITE);
  return 0;
}
