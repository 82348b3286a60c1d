import type { CallTable } from './native.ts';
import { aclCalls } from './files/acl-calls.ts';
import { adapterCalls } from './network/adapters-calls.ts';
import { administratorCalls } from './process/administrator-calls.ts';
import { certStoreCalls } from './files/cert-store-calls.ts';
import { computerNameCalls } from './network/computer-name-calls.ts';
import { environmentCalls } from './files/environment-calls.ts';
import { hnsCalls } from './network/hns-calls.ts';
import { libraryCalls } from './library-calls.ts';
import { listenerCalls } from './network/listeners-calls.ts';
import { privilegeCalls } from './process/privileges-calls.ts';
import { processCalls } from './process/processes-calls.ts';
import { registryCalls } from './files/registry-calls.ts';
import { serviceHostCalls } from './services/service-host-calls.ts';
import { serviceCalls } from './services/services-calls.ts';

/** Every function of Windows that the agent calls, by what it is about; docs/windows-api.md is made of it. */
export const allCalls: Readonly<Record<string, CallTable>> = {
  'Services of the host': serviceCalls,
  'The agent as a service': serviceHostCalls,
  Processes: processCalls,
  'Rights of the agent': { ...privilegeCalls, ...administratorCalls },
  Registry: registryCalls,
  'Machine variables': environmentCalls,
  'Trusted certificates': certStoreCalls,
  'Rights on files': aclCalls,
  'Name of the computer': computerNameCalls,
  'Network adapters, routes and ports': { ...adapterCalls, ...listenerCalls },
  'Networks of containers': hnsCalls,
  'For all of these': libraryCalls,
};
