import { ObjectError } from "@mysten/sui/client";
import { createBackOffs } from "../../../src/chain/back-off.ts";
import { createNetworkReader, type NetworkReader } from "../../../src/chain/reader.ts";
import { systemClock } from "../../../src/lifecycle/clock.ts";
import { encodeNetworkKey } from "../../support/network-key.ts";
import { objectId } from "../../support/rows.ts";

/** The fake fullnode's failure: it contains names that no caller may see. */
export const FULLNODE_FAILURE = "connect ECONNREFUSED 10.20.30.40:9000";

/** A fullnode that knows one network encryption key and no other object. */
export interface FakeFullnode {
  readonly network: Parameters<typeof createNetworkReader>[0];
  /** The service's own reader, over the fake clients. */
  readonly reader: NetworkReader;
  readonly networkKeyId: string;
  /** Runs `during` while the fullnode does not answer. */
  down<T>(during: () => Promise<T>): Promise<T>;
  /** Runs `during` while answers are held back; `asked` resolves at the first call. */
  held<T>(during: (asked: Promise<void>) => Promise<T>): Promise<T>;
}

/** A network as the service sees it, with its clients faked below the reader. */
export function createFakeFullnode(): FakeFullnode {
  const networkKeyId = objectId();
  let answering: () => Promise<void> = async () => {};
  const answer = async <T>(value: T): Promise<T> => {
    await answering();
    return value;
  };
  const packageId = objectId();
  const shared = () => ({ objectID: objectId(), initialSharedVersion: 1 });
  const network = {
    name: "localnet",
    publicFullnodeUrl: "http://127.0.0.1:9000",
    senderAddress: objectId(),
    backOff: createBackOffs(systemClock).work,
    clock: systemClock,
    times: { readMs: 10_000, buildMs: 10_000, executeMs: 10_000 },
    coordinatorRef: { objectId: objectId(), initialSharedVersion: "1" },
    ikaConfig: {
      packages: { ikaDwallet2pcMpcPackage: packageId },
      objects: { ikaSystemObject: shared(), ikaDWalletCoordinator: shared() },
    },
    client: {
      core: {
        getObjects: ({ objectIds }: { objectIds: readonly string[] }) =>
          answer({
            objects: objectIds.map((id) =>
              id === networkKeyId
                ? { objectId: id, content: encodeNetworkKey({ id, epoch: 1 }) }
                : new ObjectError("notExists", `no object ${id}`, { reason: "notFound" }),
            ),
          }),
        listDynamicFields: () =>
          answer({ dynamicFields: [{ childId: networkKeyId }], hasNextPage: false, cursor: null }),
        simulateTransaction: () => answer({ $kind: "FailedTransaction" }),
      },
    },
    ika: {
      ensureInitialized: () =>
        answer({ coordinatorInner: { dwallet_network_encryption_keys: { id: objectId() } } }),
    },
  } as unknown as FakeFullnode["network"];
  const during = async <T>(how: () => Promise<void>, run: () => Promise<T>): Promise<T> => {
    answering = how;
    try {
      return await run();
    } finally {
      answering = async () => {};
    }
  };
  // Each reading of the clock is a minute after the previous one, so that nothing stays cached.
  let minutes = 0;
  return {
    network,
    reader: createNetworkReader({ ...network, clock: { ...systemClock, now: () => ++minutes * 60_000 } }),
    networkKeyId,
    down: (run) => during(() => Promise.reject(new Error(FULLNODE_FAILURE)), run),
    async held(run) {
      let ask: () => void = () => {};
      let release: () => void = () => {};
      const asked = new Promise<void>((resolve) => {
        ask = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const hold = () => {
        ask();
        return released;
      };
      return during(hold, () => run(asked)).finally(release);
    },
  };
}
