import { ObjectError } from "@mysten/sui/client";
import { toBase58 } from "@mysten/sui/utils";
import { createBackOffs } from "../../../../../src/service/chain/fullnodes/back-off.ts";
import { createNetworkReader, type NetworkReader } from "../../../../../src/service/chain/reader.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { encodeNetworkKey } from "../../../../support/chain/network-key.ts";
import {
  custodyEntries,
  type TestCustody,
  treasuryContent,
} from "../../../../support/chain/treasury-bytes.ts";
import { objectId } from "../../../../support/database/rows.ts";

/** The message of the fake fullnode's failure. It contains names that no caller may see. */
export const FULLNODE_FAILURE = "connect ECONNREFUSED 10.20.30.40:9000";

/** The digest of the first checkpoint of its chain. */
export const CHAIN = new Uint8Array(32).fill(1);

/** A fullnode that knows one network encryption key, and a Treasury with the dWallets that it is given. */
export interface FakeFullnode {
  readonly network: Parameters<typeof createNetworkReader>[0];
  /** The service's own reader, over the fake clients. */
  readonly reader: NetworkReader;
  readonly networkKeyId: string;
  /** Puts a dWallet into the Treasury's custody, and further objects on the chain. */
  hold(custody: TestCustody, contents?: ReadonlyMap<string, Uint8Array>): void;
  /** Runs `during` while the fullnode does not answer. */
  down<T>(during: () => Promise<T>): Promise<T>;
  /** Runs `during` while answers are held back; `asked` resolves at the first call. */
  held<T>(during: (asked: Promise<void>) => Promise<T>): Promise<T>;
}

/** A network as the service sees it, with its clients faked below the reader. */
export function createFakeFullnode(): FakeFullnode {
  const [networkKeyId, treasuryId] = [objectId(), objectId()];
  const objects = new Map([
    [networkKeyId, encodeNetworkKey({ id: networkKeyId, epoch: 1 })],
    [treasuryId, treasuryContent(treasuryId)],
  ]);
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
    treasury: { packageId: objectId(), treasuryId, operatorCapIds: [] },
    coordinatorRef: { objectId: objectId(), initialSharedVersion: "1" },
    ikaConfig: {
      packages: { ikaDwallet2pcMpcPackage: packageId },
      objects: { ikaSystemObject: shared(), ikaDWalletCoordinator: shared() },
    },
    client: {
      core: {
        getObjects: ({ objectIds }: { objectIds: readonly string[] }) =>
          answer({
            objects: objectIds.map((id) => {
              const content = objects.get(id);
              return content === undefined
                ? new ObjectError("notExists", `no object ${id}`, { reason: "notFound" })
                : { objectId: id, content };
            }),
          }),
        getChainIdentifier: () => answer({ chainIdentifier: toBase58(CHAIN) }),
        getCurrentSystemState: () => answer({ systemState: { epoch: "0", referenceGasPrice: "1" } }),
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
  // The clock advances by a minute with each reading, so that nothing stays cached.
  let minutes = 0;
  return {
    network,
    reader: createNetworkReader({ ...network, clock: { ...systemClock, now: () => ++minutes * 60_000 } }),
    networkKeyId,
    hold(custody, contents = new Map()) {
      objects.set(custody.dwalletId, new Uint8Array(1));
      for (const [id, content] of contents) objects.set(id, content);
      for (const [id, content] of custodyEntries(treasuryId, custody)) objects.set(id, content);
    },
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
