/* powershell.exe: runs nothing, but answers scripts that a test has told it about. An answer is a set of files in
 * C:\lab\powershell: NAME.match (a part of the script), and if wanted NAME.out, NAME.err (what is printed), NAME.code (exit code)
 * and NAME.delay (milliseconds). The answer with the longest match wins; a script without an answer is an unexpected call.
 * Every call is logged to C:\lab\powershell\calls.log, the script in clear even when it comes encoded or by standard input. */
#include "lab.h"
#include <wincrypt.h>

#define FOLDER LAB L"\\powershell"
#define MAX_TEXT 65536

static WCHAR script[MAX_TEXT];

static void add(const WCHAR *text, size_t length)
{
  size_t used = wcslen(script);
  if (used + length + 2 > MAX_TEXT)
    return;
  if (used)
    script[used++] = L'\n';
  wmemcpy(script + used, text, length);
  script[used + length] = 0;
}

static void add_encoded(const WCHAR *base64)
{
  static WCHAR decoded[MAX_TEXT];
  DWORD size = sizeof decoded;
  if (CryptStringToBinaryW(base64, 0, CRYPT_STRING_BASE64, (BYTE *)decoded, &size, NULL, NULL))
    add(decoded, size / sizeof *decoded);
}

static void add_input(void)
{
  static char bytes[MAX_TEXT];
  static WCHAR wide[MAX_TEXT];
  size_t count = fread(bytes, 1, sizeof bytes, stdin);
  int length = MultiByteToWideChar(CP_UTF8, 0, bytes, count, wide, MAX_TEXT);
  add(wide, length);
}

static BOOL is_option(const WCHAR *value, const WCHAR *option, size_t shortest)
{
  size_t length = wcslen(value);
  return (*value == L'-' || *value == L'/') && length > shortest && !_wcsnicmp(value + 1, option, length - 1);
}

static void read_script(int count, WCHAR **values)
{
  const WCHAR *line = arguments_of(GetCommandLineW());
  add(line, wcslen(line));
  for (int index = 1; index < count; index++) {
    const WCHAR *next = index + 1 < count ? values[index + 1] : L"";
    if (is_option(values[index], L"EncodedCommand", 1))
      add_encoded(next);
    else if ((is_option(values[index], L"Command", 1) || is_option(values[index], L"File", 1)) && !wcscmp(next, L"-"))
      add_input();
  }
}

/* Logged on one line. */
static void log_call(void)
{
  static WCHAR line[MAX_TEXT];
  wcscpy(line, script);
  for (WCHAR *next = line; *next; next++) {
    if (*next == L'\n' || *next == L'\r')
      *next = L' ';
  }
  WCHAR time[32];
  print_time(time, 32);
  append_line(FOLDER L"\\calls.log", L"%ls %ls", time, line);
}

static WCHAR *read_part(const WCHAR *answer, const WCHAR *part)
{
  WCHAR path[MAX_PATH];
  _snwprintf(path, MAX_PATH, FOLDER L"\\%ls.%ls", answer, part);
  return read_text(path);
}

static int number_of(const WCHAR *answer, const WCHAR *part)
{
  WCHAR *text = read_part(answer, part);
  int number = text ? _wtoi(text) : 0;
  free(text);
  return number;
}

static void print_part(const WCHAR *answer, const WCHAR *part, DWORD stream)
{
  WCHAR *text = read_part(answer, part);
  if (!text)
    return;
  static char bytes[MAX_TEXT];
  int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
  DWORD written;
  WriteFile(GetStdHandle(stream), bytes, length - 1, &written, NULL);
  free(text);
}

static BOOL find_answer(WCHAR *name)
{
  WIN32_FIND_DATAW found;
  HANDLE search = FindFirstFileW(FOLDER L"\\*.match", &found);
  size_t longest = 0;
  if (search == INVALID_HANDLE_VALUE)
    return FALSE;
  do {
    found.cFileName[wcslen(found.cFileName) - wcslen(L".match")] = 0;
    WCHAR *match = read_part(found.cFileName, L"match");
    if (match && wcslen(match) > longest && wcsstr(script, match)) {
      longest = wcslen(match);
      wcscpy(name, found.cFileName);
    }
    free(match);
  } while (FindNextFileW(search, &found));
  FindClose(search);
  return longest > 0;
}

int wmain(int count, WCHAR **values)
{
  read_script(count, values);
  log_call();
  WCHAR answer[MAX_PATH];
  if (!find_answer(answer)) {
    note_unexpected(GetCommandLineW());
    fwprintf(stderr, L"the Windows lab has no answer for this script: %ls\n", script);
    return 1;
  }
  Sleep(number_of(answer, L"delay"));
  print_part(answer, L"out", STD_OUTPUT_HANDLE);
  print_part(answer, L"err", STD_ERROR_HANDLE);
  return number_of(answer, L"code");
}
