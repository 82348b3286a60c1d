/* kube-log-runner.exe: -log-file=FILE [more options] PROGRAM ARGUMENTS runs the program with its output appended to the file, and
 * ends with its exit code. It does not speak to the service control manager: the program does, as on Windows. */
#include "lab.h"

/* The part of the command line behind the options, which is the command line of the program. */
static const WCHAR *skip_options(const WCHAR *line, WCHAR *log_file)
{
  const WCHAR *option = L"-log-file=";
  while (*line == L'-') {
    const WCHAR *name = line[1] == L'-' ? line + 1 : line;
    const WCHAR *end = wcspbrk(line, L" \t");
    if (!end)
      return L"";
    if (!wcsncmp(name, option, wcslen(option))) {
      const WCHAR *value = name + wcslen(option);
      wcsncpy(log_file, value, end - value);
      log_file[end - value] = 0;
    }
    line = end + wcsspn(end, L" \t");
  }
  return line;
}

int wmain(void)
{
  WCHAR log_file[MAX_PATH] = L"";
  const WCHAR *line = skip_options(arguments_of(GetCommandLineW()), log_file);
  if (!*line || !*log_file) {
    note_unexpected(GetCommandLineW());
    fwprintf(stderr, L"kube-log-runner needs -log-file=FILE and a program: %ls\n", GetCommandLineW());
    return 2;
  }
  SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
  DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  HANDLE log = CreateFileW(log_file, FILE_APPEND_DATA, share, &inherited, OPEN_ALWAYS, 0, NULL);
  if (log == INVALID_HANDLE_VALUE) {
    fwprintf(stderr, L"kube-log-runner cannot open %ls, error %lu\n", log_file, GetLastError());
    return 1;
  }
  STARTUPINFOW startup = {0};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdOutput = log;
  startup.hStdError = log;
  PROCESS_INFORMATION child;
  if (!CreateProcessW(NULL, _wcsdup(line), NULL, NULL, TRUE, 0, NULL, NULL, &startup, &child)) {
    fwprintf(stderr, L"kube-log-runner cannot start %ls, error %lu\n", line, GetLastError());
    return 1;
  }
  WaitForSingleObject(child.hProcess, INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(child.hProcess, &code);
  return code;
}
