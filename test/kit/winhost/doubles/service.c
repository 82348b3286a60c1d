/* A program that is any Windows service: it takes any arguments, runs until it is told to stop, and writes what happens to it to
 * C:\lab\services\NAME.log, one JSON document a line. Tests put it in the place of containerd.exe, kubelet.exe and so on.
 * It fails as told by files in C:\lab\faults, which hold a number of milliseconds:
 *   NAME.fail-start    reports after that time that it could not start
 *   NAME.slow-start    takes that time to start
 *   NAME.slow-stop     takes that time to stop
 *   NAME.ignore-stop   goes on running for that time after it was told to stop; 0 means for ever
 *   NAME.crash-after   ends that time after it was started, without a word
 * Under the name hybrid-overlay-node it also makes the networks that the real one makes, see overlay.h. */
#include "lab.h"
#include "overlay.h"

static const WCHAR *told_variables[] = {L"HTTP_PROXY", L"HTTPS_PROXY", L"NO_PROXY", L"SSL_CERT_FILE"};

static WCHAR name[256];
static SERVICE_STATUS_HANDLE service;
static HANDLE stop_event;

static void escape(const WCHAR *text, WCHAR *into, size_t size)
{
  size_t used = 0;
  for (; *text && used + 3 < size; text++) {
    if (*text == L'"' || *text == L'\\')
      into[used++] = L'\\';
    into[used++] = *text;
  }
  into[used] = 0;
}

/* Names of variables, never their values: those of a proxy may hold a password. */
static void list_variables(WCHAR *into, size_t size)
{
  into[0] = 0;
  for (size_t index = 0; index < sizeof told_variables / sizeof *told_variables; index++) {
    if (!GetEnvironmentVariableW(told_variables[index], NULL, 0))
      continue;
    size_t used = wcslen(into);
    _snwprintf(into + used, size - used, L"%ls\"%ls\"", used ? L"," : L"", told_variables[index]);
  }
}

static void log_event(const WCHAR *event)
{
  WCHAR time[32], path[MAX_PATH], variables[256];
  static WCHAR command[8192];
  print_time(time, 32);
  escape(GetCommandLineW(), command, 8192);
  list_variables(variables, 256);
  _snwprintf(path, MAX_PATH, LAB L"\\services\\%ls.log", name);
  append_line(path, L"{\"time\":\"%ls\",\"event\":\"%ls\",\"pid\":%lu,\"command\":\"%ls\",\"environment\":[%ls]}", time, event,
              GetCurrentProcessId(), command, variables);
}

/* Milliseconds of a fault; -1 when there is none. */
static int fault(const WCHAR *kind)
{
  WCHAR path[MAX_PATH];
  _snwprintf(path, MAX_PATH, LAB L"\\faults\\%ls.%ls", name, kind);
  WCHAR *text = read_text(path);
  int milliseconds = text ? _wtoi(text) : -1;
  free(text);
  return milliseconds;
}

static void report(DWORD state, DWORD exit_code)
{
  static DWORD check_point;
  BOOL pending = state == SERVICE_START_PENDING || state == SERVICE_STOP_PENDING;
  check_point = pending ? check_point + 1 : 0;
  SERVICE_STATUS status = {0};
  status.dwServiceType = SERVICE_WIN32_OWN_PROCESS;
  status.dwCurrentState = state;
  status.dwControlsAccepted = state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0;
  status.dwWin32ExitCode = exit_code ? ERROR_SERVICE_SPECIFIC_ERROR : NO_ERROR;
  status.dwServiceSpecificExitCode = exit_code;
  status.dwCheckPoint = check_point;
  status.dwWaitHint = pending ? 3000 : 0;
  SetServiceStatus(service, &status);
}

/* Spends the time of a slow start or stop, saying now and then that it is still at it. */
static void linger(DWORD state, int milliseconds)
{
  for (; milliseconds > 0; milliseconds -= 500) {
    report(state, 0);
    Sleep(milliseconds < 500 ? milliseconds : 500);
  }
}

static DWORD WINAPI handle_control(DWORD control, DWORD type, void *data, void *context)
{
  if (control == SERVICE_CONTROL_STOP || control == SERVICE_CONTROL_SHUTDOWN)
    SetEvent(stop_event);
  return control == SERVICE_CONTROL_STOP || control == SERVICE_CONTROL_SHUTDOWN || control == SERVICE_CONTROL_INTERROGATE
             ? NO_ERROR
             : ERROR_CALL_NOT_IMPLEMENTED;
}

/* Returns when the service shall stop. */
static void run(void)
{
  int crash_ms = fault(L"crash-after");
  if (WaitForSingleObject(stop_event, crash_ms < 0 ? INFINITE : (DWORD)crash_ms) == WAIT_TIMEOUT) {
    log_event(L"crash");
    ExitProcess(1);
  }
  int ignore_ms = fault(L"ignore-stop");
  if (ignore_ms >= 0) {
    log_event(L"ignores-stop");
    Sleep(ignore_ms == 0 ? INFINITE : (DWORD)ignore_ms);
  }
}

static void WINAPI service_main(DWORD count, WCHAR **values)
{
  wcsncpy(name, count > 0 ? values[0] : L"unknown", 255);
  stop_event = CreateEventW(NULL, TRUE, FALSE, NULL);
  service = RegisterServiceCtrlHandlerExW(name, handle_control, NULL);
  log_event(L"start");
  int fail_ms = fault(L"fail-start");
  linger(SERVICE_START_PENDING, fail_ms < 0 ? fault(L"slow-start") : fail_ms);
  if (fail_ms >= 0) {
    log_event(L"fails");
    report(SERVICE_STOPPED, 1);
    return;
  }
  log_event(L"running");
  report(SERVICE_RUNNING, 0);
  if (!_wcsicmp(name, L"hybrid-overlay-node"))
    CreateThread(NULL, 0, make_overlay_networks, NULL, 0, NULL);
  run();
  log_event(L"stopping");
  linger(SERVICE_STOP_PENDING, fault(L"slow-stop"));
  log_event(L"stopped");
  report(SERVICE_STOPPED, 0);
}

int wmain(void)
{
  WCHAR any_name[] = L"";
  SERVICE_TABLE_ENTRYW table[] = {{any_name, service_main}, {NULL, NULL}};
  if (StartServiceCtrlDispatcherW(table))
    return 0;
  fwprintf(stderr, L"this program is a Windows service, error %lu: %ls\n", GetLastError(), GetCommandLineW());
  return 1;
}
