import type { CallTable } from '../native.ts';
import { aclCalls } from './acl.ts';
import { adapterCalls } from './adapters.ts';
import { administratorCalls } from './administrator.ts';
import { certStoreCalls } from './cert-store.ts';
import { computerNameCalls } from './computer-name.ts';
import { environmentCalls } from './environment.ts';
import { hnsCalls } from './hns.ts';
import { libraryCalls } from './library.ts';
import { listenerCalls } from './listeners.ts';
import { privilegeCalls } from './privileges.ts';
import { processCalls } from './processes.ts';
import { registryCalls } from './registry.ts';
import { serviceHostCalls } from './service-host.ts';
import { serviceCalls } from './services.ts';

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
