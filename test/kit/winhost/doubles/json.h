/* Just enough JSON for the doubles: finds the value of a member in an object that is well-formed. */
#ifndef JSON_H
#define JSON_H

#include <wchar.h>
#include <windows.h>

/* Behind the value that starts at text. */
static const WCHAR *skip_value(const WCHAR *text)
{
  int depth = 0;
  for (; *text; text++) {
    if (*text == L'"') {
      for (text++; *text && *text != L'"'; text++) {
        if (*text == L'\\' && text[1])
          text++;
      }
      if (!*text)
        return text;
    } else if (*text == L'{' || *text == L'[') {
      depth++;
    } else if (*text == L'}' || *text == L']') {
      if (depth == 0)
        return text;
      depth--;
    } else if (*text == L',' && depth == 0) {
      return text;
    }
  }
  return text;
}

static const WCHAR *skip_blanks(const WCHAR *text)
{
  return text + wcsspn(text, L" \t\r\n");
}

/* Copies the value of a member as it is written, quotes and all; FALSE when the object has no such member. */
static BOOL find_member(const WCHAR *object, const WCHAR *member, WCHAR *into, size_t size)
{
  const WCHAR *next = skip_blanks(object);
  if (*next != L'{')
    return FALSE;
  next = skip_blanks(next + 1);
  while (*next == L'"') {
    const WCHAR *name = next + 1;
    const WCHAR *end = wcschr(name, L'"');
    const WCHAR *value = end ? wcschr(end, L':') : NULL;
    if (!value)
      return FALSE;
    value = skip_blanks(value + 1);
    const WCHAR *after = skip_value(value);
    size_t length = after - value;
    if (wcslen(member) == (size_t)(end - name) && !_wcsnicmp(name, member, end - name) && length < size) {
      wmemcpy(into, value, length);
      into[length] = 0;
      return TRUE;
    }
    next = *after == L',' ? skip_blanks(after + 1) : after;
  }
  return FALSE;
}

/* The same for a member that is a string, without its quotes; escapes stay as they are. */
static BOOL find_string(const WCHAR *object, const WCHAR *member, WCHAR *into, size_t size)
{
  if (!find_member(object, member, into, size) || *into != L'"')
    return FALSE;
  size_t length = wcslen(into);
  while (length > 1 && into[length - 1] != L'"')
    length--;
  wmemmove(into, into + 1, length);
  into[length - 2] = 0;
  return TRUE;
}

#endif
