type Method = (...inputs: never[]) => unknown;

/** For each method the line that describes a call of it; undefined for a call that changes nothing. */
export type CallLines<T> = {
  [K in keyof T]?: T[K] extends Method ? (...inputs: Parameters<T[K]>) => string | undefined : never;
};

/** Replaces methods of a port so that each call is passed to the hook first, which may throw in place of the call. */
export function beforeCalls<T extends object>(port: T, hook: (call: string) => void, lines: CallLines<T>): T {
  for (const [name, lineOf] of Object.entries(lines) as [keyof T, (...inputs: unknown[]) => string | undefined][]) {
    const act = (port[name] as (...inputs: unknown[]) => unknown).bind(port);
    const replacement = async (...inputs: unknown[]) => {
      const line = lineOf(...inputs);
      if (line !== undefined) hook(line);
      return await act(...inputs);
    };
    Object.defineProperty(port, name, { value: replacement, writable: true, configurable: true });
  }
  return port;
}
