import { AppError, shown } from '#base/errors.ts';
import type { LogRotation, OperatorSettings } from './facts.ts';
import { type Environment, proxyVariables } from './proxy.ts';

/** Settings from the build, the command line and the log rotation variables. */
export interface GivenSettings {
  version: string;
  debug: boolean;
  logRotation: LogRotation;
}

const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function readSettings(environment: Environment, given: GivenSettings): OperatorSettings {
  const { version, debug, logRotation } = given;
  const namespace = readNamespace(environment['WATCH_NAMESPACE']);
  return { namespace, version, debug, logRotation, proxy: proxyVariables(environment).variables };
}

/** Arguments in the variable ARGS, which users set in OLM subscriptions. */
export function extraArguments(environment: Environment): string[] {
  return (environment['ARGS'] ?? '').split(' ').filter(argument => argument !== '');
}

/** Exactly one namespace, where the operator keeps its objects. */
function readNamespace(namespace: string | undefined): string {
  if (namespace !== undefined && namespaceName.test(namespace)) return namespace;
  const what = namespace?.includes(',') ? 'has several namespaces' : 'is not a namespace name';
  throw new AppError('SETTING_INVALID', `WATCH_NAMESPACE ${what}: ${shown(namespace)}`, {
    remedy: 'Set WATCH_NAMESPACE to the namespace of the operator only.',
  });
}
