import type { NativeFunction } from './native.ts';

/** Makes a call that may take long on a thread of the pool, so that the service goes on answering meanwhile. */
export function callOnThread(call: NativeFunction, ...args: unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error: Error | null, result: unknown) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}
