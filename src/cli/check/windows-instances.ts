import { type AppError, attempt } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { KubeObject } from '#contract/object.ts';
import { windowsInstanceKind } from '#contract/windows-instance/resource.ts';
import { acceptanceProblem, rivalsAmong } from '#node/acceptance-problem.ts';
import { ofKind } from '../find.ts';

/** The result for one WindowsInstance. */
export interface InstanceLine {
  instance: string;
  address: string;
  username?: string;
  error?: AppError;
}

/** Applies the acceptance rules of the operator, except those that need Secrets or DNS. */
export function checkWindowsInstances(objects: readonly KubeObject[]): InstanceLine[] {
  const read = ofKind(objects, windowsInstanceKind).map(object => ({
    object,
    result: attempt(() => readInstance(object)),
  }));
  const all = read.flatMap(({ result }) => (result.ok ? [result.value] : []));
  return read.map(({ object, result }) => {
    if (!result.ok) return { instance: object.meta.name, address: '', error: result.error };
    const { address, username } = result.value.spec;
    const facts = { entryProblem: undefined, keyProblem: undefined, rivals: rivalsAmong(all, result.value) };
    const error = acceptanceProblem({ ...facts, instance: result.value });
    return {
      instance: object.meta.name,
      address,
      ...(username !== '' && { username }),
      ...(error && { error }),
    };
  });
}

/** Reads only the fields that the rules need. */
function readInstance({ fields, meta }: KubeObject): WindowsInstance {
  const spec = fields.object('spec');
  const texts = Object.fromEntries(
    (['hostKey', 'hostname'] as const).flatMap(name => {
      const value = spec.string(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const port = spec.number('port');
  const { name, namespace, creationTimestamp } = meta;
  return {
    metadata: { name, namespace, creationTimestamp },
    spec: {
      address: spec.string('address') ?? '',
      username: spec.string('username') ?? '',
      ...texts,
      ...(port !== undefined && { port }),
    },
  };
}
