import type { InstalledConfig, ServiceConfig } from '../../ports.ts';
import { type Encoded, placed } from '../native.ts';
import type { Handle, ServiceHandles } from './service-handles.ts';
import {
  type BasicConfig,
  decodeConfig,
  decodeDescription,
  decodeList,
  decodeRecovery,
  encodeDescription,
  encodeNumber,
  encodeRecovery,
} from './service-records.ts';
import { win32 } from '../win32-errors.ts';

const levels = { description: 1, failureActions: 2, failureActionsFlag: 4 } as const;
/** Largest response of the service manager. */
const maxBytes = 8 * 1024;

/** The configuration of an open service; undefined when it cannot be read. */
export function readConfig(handles: ServiceHandles, service: Handle, name: string): InstalledConfig | undefined {
  const bytes = Buffer.alloc(maxBytes);
  const address = handles.koffi.address(bytes);
  if (!handles.call.QueryServiceConfigW(service, bytes, bytes.length, [0])) return undefined;
  const basic = decodeConfig(bytes, address);
  const described = handles.call.QueryServiceConfig2W(service, levels.description, bytes, bytes.length, [0]);
  // Fails when the description is a resource that Windows cannot read; those of the agent are plain text.
  const description = described ? decodeDescription(bytes, address) : '';
  const known = handles.call.QueryServiceConfig2W(service, levels.failureActions, bytes, bytes.length, [0]);
  if (known) return { ...basic, description, recovery: decodeRecovery(bytes, address) };
  return { ...basic, description, recovery: 'unreadable', dependencies: readDependencies(handles, name, basic) };
}

/** Description and recovery, which the calls that create or change a service do not cover. */
export function writeExtras(handles: ServiceHandles, service: Handle, name: string, config: ServiceConfig): void {
  const write = (level: number, encoded: Encoded) => {
    if (handles.call.ChangeServiceConfig2W(service, level, placed(handles.koffi, encoded))) return;
    // Wine has no recovery; on Windows these levels exist everywhere.
    if (level !== levels.description && handles.lastError() === win32.invalidLevel) return;
    throw handles.failure('ChangeServiceConfig2W', `service ${name}`);
  };
  write(levels.description, encodeDescription(config.description));
  write(levels.failureActions, encodeRecovery(config.recovery));
  // Otherwise Windows would not restart a service that stops with an error, because that is not a crash.
  write(levels.failureActionsFlag, encodeNumber(config.recovery === undefined ? 0 : 1));
}

/** A service manager without recovery, as on Wine, does not report dependencies either, but stores them. */
function readDependencies(handles: ServiceHandles, name: string, basic: BasicConfig): readonly string[] {
  const [localMachine, multiText] = [-0x7fff_fffe, 0x20];
  const bytes = Buffer.alloc(maxBytes);
  const key = `SYSTEM\\CurrentControlSet\\Services\\${name}`;
  const length = [bytes.length - 4];
  const failed = handles.call.RegGetValueW(localMachine, key, 'DependOnService', multiText, null, bytes, length);
  return failed ? basic.dependencies : decodeList(bytes, 0);
}
