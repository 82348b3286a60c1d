import type { CallTable } from './native.ts';

/** What every other binding needs. */
export const libraryCalls = {
  GetLastError: {
    dll: 'kernel32.dll',
    prototype: 'uint32_t __stdcall GetLastError()',
    why: 'Tells why a call failed',
    proof: 'wine',
  },
  GetSystemDirectoryW: {
    dll: 'kernel32.dll',
    prototype: 'uint32_t __stdcall GetSystemDirectoryW(void *text, uint32_t length)',
    why: 'Libraries are loaded from there only, never from the directory a command happens to run in',
    proof: 'wine',
  },
} as const satisfies CallTable;
