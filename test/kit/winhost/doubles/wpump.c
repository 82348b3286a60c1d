/* wpump.exe COMMAND LINE : runs the command with pipes of Windows as its input and output, and carries the data between them and
 * its own, which may be pipes of Linux: Node.js on Windows cannot open those. Ends with the exit code of the command.
 * With WPUMP_SHELL=TEXT in the environment it runs cmd.exe /c "TEXT", as OpenSSH for Windows does; Wine would otherwise put
 * backslashes before the quotes of the text. With WPUMP_ERRORS=FILE the errors of the command are appended to that file. */
#include "lab.h"

struct Pump {
  HANDLE from;
  HANDLE to;
  BOOL close_at_end;
};

static DWORD WINAPI pump(void *argument)
{
  struct Pump *pump = argument;
  char buffer[65536];
  DWORD count;
  while (ReadFile(pump->from, buffer, sizeof buffer, &count, NULL) && count) {
    char *next = buffer;
    while (count) {
      DWORD written;
      if (!WriteFile(pump->to, next, count, &written, NULL))
        return 0;
      next += written;
      count -= written;
    }
  }
  if (pump->close_at_end)
    CloseHandle(pump->to);
  return 0;
}

/* The command line to run, to be freed never. */
static WCHAR *command_line(void)
{
  DWORD size = GetEnvironmentVariableW(L"WPUMP_SHELL", NULL, 0);
  if (!size)
    return _wcsdup(arguments_of(GetCommandLineW()));
  WCHAR *text = malloc(size * sizeof *text);
  GetEnvironmentVariableW(L"WPUMP_SHELL", text, size);
  SetEnvironmentVariableW(L"WPUMP_SHELL", NULL);
  const WCHAR *shell = L"C:\\windows\\system32\\cmd.exe /c \"";
  WCHAR *line = malloc((size + wcslen(shell) + 2) * sizeof *line);
  wcscpy(line, shell);
  wcscat(line, text);
  wcscat(line, L"\"");
  return line;
}

static void make_pipe(HANDLE *read_end, HANDLE *write_end, BOOL child_reads)
{
  SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
  if (!CreatePipe(read_end, write_end, &inherited, 65536)) {
    fwprintf(stderr, L"wpump: no pipe, error %lu\n", GetLastError());
    ExitProcess(250);
  }
  SetHandleInformation(child_reads ? *write_end : *read_end, HANDLE_FLAG_INHERIT, 0);
}

static HANDLE error_output(void)
{
  WCHAR path[MAX_PATH];
  DWORD length = GetEnvironmentVariableW(L"WPUMP_ERRORS", path, MAX_PATH);
  SetEnvironmentVariableW(L"WPUMP_ERRORS", NULL);
  if (!length)
    return GetStdHandle(STD_ERROR_HANDLE);
  return CreateFileW(path, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
}

int wmain(void)
{
  HANDLE errors = error_output();
  HANDLE input_read, input_write, output_read, output_write, error_read, error_write;
  make_pipe(&input_read, &input_write, TRUE);
  make_pipe(&output_read, &output_write, FALSE);
  make_pipe(&error_read, &error_write, FALSE);
  STARTUPINFOW startup = {0};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = input_read;
  startup.hStdOutput = output_write;
  startup.hStdError = error_write;
  PROCESS_INFORMATION child;
  if (!CreateProcessW(NULL, command_line(), NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &startup, &child)) {
    fwprintf(stderr, L"wpump: the command cannot be started, error %lu\n", GetLastError());
    return 127;
  }
  CloseHandle(input_read);
  CloseHandle(output_write);
  CloseHandle(error_write);

  struct Pump input = {GetStdHandle(STD_INPUT_HANDLE), input_write, TRUE};
  struct Pump output = {output_read, GetStdHandle(STD_OUTPUT_HANDLE), FALSE};
  struct Pump error = {error_read, errors, FALSE};
  CreateThread(NULL, 0, pump, &input, 0, NULL);
  HANDLE outputs[2];
  outputs[0] = CreateThread(NULL, 0, pump, &output, 0, NULL);
  outputs[1] = CreateThread(NULL, 0, pump, &error, 0, NULL);
  WaitForSingleObject(child.hProcess, INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(child.hProcess, &code);
  /* A process that the command left behind may hold the pipes for ever. */
  WaitForMultipleObjects(2, outputs, TRUE, 2000);
  ExitProcess(code);
}
