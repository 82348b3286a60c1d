import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP relay between client and server that fails as networks do. */
export interface TcpRelay extends AsyncDisposable {
  readonly port: number;
  /** Connections since the start. */
  accepted(): number;
  /** Drops all data in both directions without closing: a half-open connection. */
  freeze(): void;
  /** New connections get through again; frozen ones stay frozen. */
  thaw(): void;
  /** Ends all connections with a TCP reset. */
  reset(): void;
  /** Closes new connections at once while true. */
  refuse(refusing: boolean): void;
  stop(): Promise<void>;
}

/** Listens on a free port of loopback by default. */
export async function startRelay(targetPort: number, listen = { host: '127.0.0.1', port: 0 }): Promise<TcpRelay> {
  const pairs = new Set<{ near: Socket; far: Socket; isFrozen: boolean }>();
  let [accepted, isFreezing, isRefusing] = [0, false, false];
  // A frozen connection must not answer a FIN either, so ends are handled here.
  const server = createServer({ allowHalfOpen: true }, near => {
    accepted += 1;
    if (isRefusing) return near.resetAndDestroy();
    near.setNoDelay(true);
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    const pair = { near, far, isFrozen: isFreezing };
    pairs.add(pair);
    const end = () => {
      if (pair.isFrozen) return;
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', chunk => {
        if (!pair.isFrozen) to.write(chunk);
      });
      from.on('error', end).on('end', end).on('close', end);
    }
    return undefined;
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(listen, resolve));
  const reset = () => {
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    pairs.clear();
  };
  const stop = async () => {
    const closed = new Promise(resolve => server.close(resolve));
    reset();
    await closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    freeze: () => {
      isFreezing = true;
      for (const pair of pairs) pair.isFrozen = true;
    },
    thaw: () => {
      isFreezing = false;
    },
    reset,
    refuse: refusing => {
      isRefusing = refusing;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
