import { AppError, shown } from '#base/errors.ts';
import type { LogRotation, OperatorSettings } from './facts.ts';
import { type Environment, proxyVariables } from './proxy.ts';

/** What has been read elsewhere: from the build, the command line and the variables for log rotation. */
export interface GivenSettings {
  version: string;
  debug: boolean;
  logRotation: LogRotation;
}

const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The operator's settings: all are read once, at start. */
export function readSettings(environment: Environment, given: GivenSettings): OperatorSettings {
  const { version, debug, logRotation } = given;
  const namespace = readNamespace(environment['WATCH_NAMESPACE']);
  return { namespace, version, debug, logRotation, proxy: proxyVariables(environment).variables };
}

/** Arguments that users add to the command line through the variable ARGS, as OLM subscriptions do. */
export function extraArguments(environment: Environment): string[] {
  return (environment['ARGS'] ?? '').split(' ').filter(argument => argument !== '');
}

/** Exactly one namespace: the operator keeps its objects there. */
function readNamespace(namespace: string | undefined): string {
  if (namespace !== undefined && namespaceName.test(namespace)) return namespace;
  const what = namespace?.includes(',') ? 'names several namespaces' : 'is not the name of a namespace';
  throw new AppError('SETTING_INVALID', `WATCH_NAMESPACE ${what}: ${shown(namespace)}`, {
    remedy: "Set WATCH_NAMESPACE to the operator's own namespace, and to nothing else.",
  });
}
