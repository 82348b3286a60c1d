import type { CallTable } from '../native.ts';

/** Beside the registry, which holds the variables. */
export const environmentCalls = {
  SendMessageTimeoutW: {
    dll: 'user32.dll',
    prototype:
      'intptr_t __stdcall SendMessageTimeoutW(intptr_t window, uint32_t message, uintptr_t first, str16 second, uint32_t flags, uint32_t limitMs, _Out_ uintptr_t *result)',
    why: 'Tells open programs, such as a shell, that machine variables have changed',
    proof: 'wine',
  },
} as const satisfies CallTable;
