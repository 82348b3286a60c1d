/* Stands in for every program of Windows that is only a shell in Wine (it would say "done" and do nothing) and that nobody has
 * an agreed use for: fails, says so, and leaves a line in C:\lab\unexpected.log. */
#include "lab.h"

int wmain(void)
{
  note_unexpected(GetCommandLineW());
  fwprintf(stderr, L"the Windows lab has no double for this call: %ls\n", GetCommandLineW());
  return 120; /* ERROR_CALL_NOT_IMPLEMENTED */
}
