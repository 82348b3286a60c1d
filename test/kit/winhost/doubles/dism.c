/* dism.exe: knows the state of optional features of the running system and enables them, with the words and exit codes of the
 * real one. The state of a feature is the content of C:\lab\features\NAME: Enabled, Disabled or Enable Pending. A feature that
 * waits for the reboot is enabled by hostd.exe at the next boot. Everything else is an unexpected call. */
#include "lab.h"

enum { RESTART_REQUIRED = 3010, UNKNOWN_FEATURE = (int)0x800f080c };

static BOOL has(int count, WCHAR **values, const WCHAR *option)
{
  for (int index = 1; index < count; index++) {
    if (!_wcsicmp(values[index], option))
      return TRUE;
  }
  return FALSE;
}

static const WCHAR *feature_name(int count, WCHAR **values)
{
  const WCHAR *option = L"/FeatureName:";
  for (int index = 1; index < count; index++) {
    if (!_wcsnicmp(values[index], option, wcslen(option)))
      return values[index] + wcslen(option);
  }
  return NULL;
}

static void print_head(void)
{
  printf("\nDeployment Image Servicing and Management tool\nVersion: 10.0.20348.681\n\n");
  printf("Image Version: 10.0.20348.2700\n\n");
}

static int print_info(const WCHAR *name, const WCHAR *state)
{
  printf("Feature Information:\n\n");
  printf("Feature Name : %ls\nDisplay Name : %ls\nDescription : A feature of the Windows lab.\n", name, name);
  printf("Restart Required : Possible\nState : %ls\n\n", state);
  printf("The operation completed successfully.\n");
  return 0;
}

static int enable(const WCHAR *path, const WCHAR *state)
{
  printf("Enabling feature(s)\n[==========================100.0%%==========================]\n");
  printf("The operation completed successfully.\n");
  if (!wcscmp(state, L"Enabled"))
    return 0;
  write_text(path, L"Enable Pending");
  return RESTART_REQUIRED;
}

int wmain(int count, WCHAR **values)
{
  append_line(LAB L"\\host\\dism.log", L"%ls", GetCommandLineW());
  const WCHAR *name = feature_name(count, values);
  /* Without /English the real one speaks the language of the system. */
  BOOL info = has(count, values, L"/Get-FeatureInfo") && has(count, values, L"/English");
  /* Without /NoRestart the real one asks or restarts by itself, which no program of ours may want. */
  BOOL enabling = has(count, values, L"/Enable-Feature") && has(count, values, L"/NoRestart");
  if (!has(count, values, L"/Online") || !name || info == enabling) {
    note_unexpected(GetCommandLineW());
    fwprintf(stderr, L"the Windows lab has no double for this call: %ls\n", GetCommandLineW());
    return 87;
  }
  WCHAR path[MAX_PATH];
  _snwprintf(path, MAX_PATH, LAB L"\\features\\%ls", name);
  WCHAR *state = read_text(path);
  print_head();
  if (!state) {
    printf("Error: 0x800f080c\n\nFeature name %ls is unknown.\n", name);
    return UNKNOWN_FEATURE;
  }
  return info ? print_info(name, state) : enable(path, state);
}
