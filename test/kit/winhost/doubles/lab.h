/* What the doubles share: files under C:\lab, times, and the way to be loud about what nobody agreed on. */
#ifndef LAB_H
#define LAB_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#define LAB L"C:\\lab"
#define MAX_LINE 16384

static const WCHAR *unexpected_log = LAB L"\\unexpected.log";

/* Appends one line as UTF-8. One write, so that lines of several processes do not mix. */
static void append_line(const WCHAR *path, const WCHAR *format, ...)
{
  static WCHAR wide[MAX_LINE];
  static char bytes[MAX_LINE * 3];
  va_list arguments;
  va_start(arguments, format);
  _vsnwprintf(wide, MAX_LINE - 2, format, arguments);
  va_end(arguments);
  wide[MAX_LINE - 2] = 0;
  wcscat(wide, L"\n");
  int length = WideCharToMultiByte(CP_UTF8, 0, wide, -1, bytes, sizeof bytes, NULL, NULL);
  DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  HANDLE file = CreateFileW(path, FILE_APPEND_DATA, share, NULL, OPEN_ALWAYS, 0, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return;
  DWORD written;
  WriteFile(file, bytes, length - 1, &written, NULL);
  CloseHandle(file);
}

/* The whole of a small UTF-8 file, to be freed by the caller; NULL when there is none. */
static inline WCHAR *read_text(const WCHAR *path)
{
  DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  HANDLE file = CreateFileW(path, GENERIC_READ, share, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return NULL;
  DWORD size = GetFileSize(file, NULL);
  char *bytes = malloc(size + 1);
  DWORD count = 0;
  ReadFile(file, bytes, size, &count, NULL);
  CloseHandle(file);
  WCHAR *text = malloc((count + 1) * sizeof *text);
  int length = MultiByteToWideChar(CP_UTF8, 0, bytes, count, text, count + 1);
  text[length] = 0;
  free(bytes);
  return text;
}

/* Replaces a small file; FALSE when it cannot. */
static inline BOOL write_text(const WCHAR *path, const WCHAR *text)
{
  int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *bytes = malloc(size);
  WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, size, NULL, NULL);
  HANDLE file = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL);
  DWORD written = 0;
  BOOL done = file != INVALID_HANDLE_VALUE && WriteFile(file, bytes, size - 1, &written, NULL);
  if (file != INVALID_HANDLE_VALUE)
    CloseHandle(file);
  free(bytes);
  return done;
}

static inline BOOL file_exists(const WCHAR *path)
{
  return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

/* The command line behind the program's own name, as it was given. */
static inline const WCHAR *arguments_of(const WCHAR *line)
{
  if (*line == L'"') {
    line++;
    while (*line && *line != L'"')
      line++;
    if (*line)
      line++;
  } else {
    while (*line && *line != L' ' && *line != L'\t')
      line++;
  }
  while (*line == L' ' || *line == L'\t')
    line++;
  return line;
}

/* Writes the time of now as 2026-01-31T12:00:00.000Z. */
static inline void print_time(WCHAR *into, size_t size)
{
  SYSTEMTIME now;
  GetSystemTime(&now);
  _snwprintf(into, size, L"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute,
             now.wSecond, now.wMilliseconds);
}

/* Notes a call that no test agreed on. Tests assert that the file is not there. */
static inline void note_unexpected(const WCHAR *what)
{
  WCHAR time[32];
  print_time(time, 32);
  append_line(unexpected_log, L"%ls %ls", time, what);
}

#endif
