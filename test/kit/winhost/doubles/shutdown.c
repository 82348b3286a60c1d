/* shutdown.exe: /r restarts, /s switches off, /a takes it back, /t SECONDS waits. Returns at once as on Windows, and logs each
 * call to C:\lab\host\shutdown.log. A copy of itself in the background makes the request when it is due; the supervisor, which
 * looks for it, cuts the SSH sessions, ends Wine and boots again.
 * Wine's own way (ExitWindowsEx) is of no use: it ends running commands with exit code 0, so that SSH would report success. */
#include "lab.h"

static const WCHAR *pending = LAB L"\\host\\shutdown.pending";
static const WCHAR *request = LAB L"\\host\\shutdown.request";

enum { NO_SHUTDOWN_IN_PROGRESS = 1116, SHUTDOWN_IS_SCHEDULED = 1190 };

struct Wish {
  BOOL restart;
  BOOL off;
  BOOL abort;
  int delay_seconds;
};

static struct Wish read_wish(int count, WCHAR **values)
{
  struct Wish wish = {0};
  for (int index = 1; index < count; index++) {
    const WCHAR *value = values[index];
    if (*value != L'/' && *value != L'-')
      continue;
    value++;
    if (!_wcsicmp(value, L"r") || !_wcsicmp(value, L"g"))
      wish.restart = TRUE;
    else if (!_wcsicmp(value, L"s") || !_wcsicmp(value, L"p"))
      wish.off = TRUE;
    else if (!_wcsicmp(value, L"a"))
      wish.abort = TRUE;
    else if (!_wcsicmp(value, L"t") && index + 1 < count)
      wish.delay_seconds = _wtoi(values[++index]);
  }
  return wish;
}

static int start_waiting(void)
{
  SetEnvironmentVariableW(L"LAB_SHUTDOWN_WAITS", L"1");
  STARTUPINFOW startup = {0};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION child;
  WCHAR *line = _wcsdup(GetCommandLineW());
  return !CreateProcessW(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &startup, &child);
}

int wmain(int count, WCHAR **values)
{
  struct Wish wish = read_wish(count, values);
  if (GetEnvironmentVariableW(L"LAB_SHUTDOWN_WAITS", NULL, 0)) {
    /* The caller gets its answer before the host goes down, even without a delay. */
    Sleep(wish.delay_seconds * 1000 + 200);
    return !MoveFileExW(pending, request, MOVEFILE_REPLACE_EXISTING);
  }
  append_line(LAB L"\\host\\shutdown.log", L"%ls", GetCommandLineW());
  if (wish.abort)
    return DeleteFileW(pending) ? 0 : NO_SHUTDOWN_IN_PROGRESS;
  if (!wish.restart && !wish.off) {
    note_unexpected(GetCommandLineW());
    fwprintf(stderr, L"the Windows lab knows /r, /s and /a only: %ls\n", GetCommandLineW());
    return 1;
  }
  if (file_exists(pending)) {
    fwprintf(stderr, L"A system shutdown has already been scheduled.(%d)\n", SHUTDOWN_IS_SCHEDULED);
    return SHUTDOWN_IS_SCHEDULED;
  }
  write_text(pending, wish.restart ? L"restart" : L"off");
  return start_waiting();
}
