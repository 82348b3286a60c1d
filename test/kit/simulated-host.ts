import { type Clock, systemClock } from '../../src/base/clock.ts';
import { isAppError } from '../../src/base/errors.ts';
import type { HostConnection } from '../../src/host/host.ts';
import type { PrivateKey } from '../../src/host/keys/private-key.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { scaledClock } from '../../src/sandbox/machines/clocks.ts';
import { ContentStore } from '../../src/sandbox/machines/host/content-store.ts';
import { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { stampOf } from '../../src/sandbox/machines/programs/stamp.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { type Times, defaultTimes } from '../../src/sandbox/machines/times.ts';
import { type Traits, defaultTraits } from '../../src/sandbox/machines/traits.ts';
import { makeKey } from './ssh-server.ts';

export interface TestHost extends AsyncDisposable {
  host: SimulatedHost;
  store: ContentStore;
  key: PrivateKey;
  connect(username?: string, keys?: readonly PrivateKey[]): Promise<HostConnection>;
  /** Puts a program of this version on the disk. */
  install(path: string, version?: string): Promise<void>;
  /** How often the network has changed. */
  changes(): number;
}

export interface TestHostOptions {
  traits?: Partial<Traits>;
  times?: Partial<Times>;
  speed?: number;
  clock?: Clock;
  start?: 'booted' | 'booting' | 'off';
}

/** One simulated host without a cluster, at 100 times the speed. Stopped at the end of the scope. */
export async function startHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { traits, times, speed = 100, clock = systemClock, start = 'booted' } = options;
  const store = await ContentStore.open();
  const { key } = makeKey();
  let changes = 0;
  const host = new SimulatedHost(
    {
      name: 'win-1',
      address: '10.0.0.11',
      dnsSuffix: '',
      user: 'Administrator',
      authorizedKeys: [key.publicKey],
      traits: { ...defaultTraits, ...traits },
      times: { ...defaultTimes, ...times },
    },
    {
      store,
      clock,
      delays: scaledClock(clock, speed),
      agentVersion: 'unknown',
      onChange: () => {
        changes += 1;
      },
    },
  );
  if (start !== 'off') await host.start(start);
  const routed = routedConnect(async () => host.route(), connect, systemClock);
  return {
    host,
    store,
    key,
    connect: (username = 'Administrator', privateKeys = [key]) =>
      routed({ address: '10.0.0.11', username, privateKeys, pinnedKey: undefined }, { dialTimeoutMs: 1000 }),
    install: async (path, version = '11.0.0-1') =>
      host.files.write(path, stampOf(path.slice(path.lastIndexOf('\\') + 1), version)),
    changes: () => changes,
    async [Symbol.asyncDispose]() {
      await host.stop();
      await store.close();
    },
  };
}

/** The code of the error of a call, or `fine`. */
export async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return 'fine';
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}
