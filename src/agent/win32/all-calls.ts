import { aclCalls, certStoreCalls, environmentCalls, registryCalls } from './files/calls.ts';
import { type CallTable, libraryCalls } from './native.ts';
import { adapterCalls, computerNameCalls, hnsCalls, listenerCalls, routeCalls } from './network/calls.ts';
import { administratorCalls, privilegeCalls, processCalls } from './process/calls.ts';
import { serviceCalls, serviceHostCalls } from './services/calls.ts';

/** Every Windows function that the agent calls, by subject; the source of docs/windows-api.md. */
export const allCalls: Readonly<Record<string, CallTable>> = {
  'Windows services': serviceCalls,
  'The agent as a Windows service': serviceHostCalls,
  Processes: processCalls,
  'Rights of the agent': { ...privilegeCalls, ...administratorCalls },
  Registry: registryCalls,
  'Machine variables': environmentCalls,
  'Trusted certificates': certStoreCalls,
  'Access rights of files': aclCalls,
  'Computer name': computerNameCalls,
  'Network adapters, routes and ports': { ...adapterCalls, ...routeCalls, ...listenerCalls },
  'Container networks': hnsCalls,
  'Used by all of these': libraryCalls,
};
