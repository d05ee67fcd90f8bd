import { CURVES, curveNumber } from "../../../protocol/algorithms.ts";
import { parseNetworkEncryptionKey } from "../../../protocol/chain-objects.ts";
import { currentEpoch, networkKeysTableId } from "../../../protocol/coordinator-objects.ts";
import { buildProtocolParameters } from "../../../protocol/parameters/build-protocol-parameters.ts";
import { chooseKeyOutput } from "../../../protocol/parameters/choose-key-output.ts";
import { readKeyOutputs } from "../../../protocol/read-key-outputs.ts";
import { type Finding, type HealthCheck, needed, once } from "../../checks/health-check.ts";
import type { NetworkView } from "./network-view.ts";

/** Returns the checks that this version can read the outputs of the network's encryption keys. */
export function keyChecks(view: NetworkView): HealthCheck[] {
  const keys = once(() => readKeys(view));
  return [
    {
      name: "network keys",
      advice: "the client cannot use a key with an unreadable output; look for a newer release",
      async look() {
        const found = await keys();
        if (found.length === 0) throw new Error("the network has no encryption key");
        return { status: "ok", found: found.map(describe).join("; ") };
      },
    },
    {
      name: "parameters",
      advice: "the key's output is inconsistent; report it with the findings above",
      look: async () => lookAtParameters(await needed(keys(), "no network key can be read, see above")),
    },
  ];
}

/** A network key with its readable outputs. */
interface FoundKey {
  readonly id: string;
  /** The versions of its outputs, the newest output first. */
  readonly versions: readonly number[];
  /** The content that all readable outputs share. */
  readonly output: Uint8Array;
}

async function readKeys(view: NetworkView): Promise<FoundKey[]> {
  const reader = await view.reader();
  const inner = await view.innerContent();
  const ids = await view.idsIn(networkKeysTableId(inner));
  const contents = await reader.getObjects(ids);
  const found: FoundKey[] = [];
  for (const id of ids) {
    const content = contents.get(id);
    if (content === undefined) throw new Error(`the fullnode lacks the network key ${id}`);
    const key = parseNetworkEncryptionKey(content);
    const outputs = await readKeyOutputs(key, currentEpoch(inner), (_, objectIds) =>
      reader.getObjects(objectIds),
    );
    found.push({ id, versions: outputs.map(([tag = 0]) => tag + 1), output: chooseKeyOutput(outputs) });
  }
  return found;
}

function describe({ id, versions }: FoundKey): string {
  const [first, anchor] = versions;
  return anchor === undefined
    ? `${id}: its DKG output is of version ${first}, and it was never reconfigured`
    : `${id}: its newest reconfiguration is of version ${first}, its DKG output of version ${anchor}`;
}

function lookAtParameters(keys: readonly FoundKey[]): Finding {
  const sizes = CURVES.map((curve) => {
    const built = keys.map(({ output }) => buildProtocolParameters(curveNumber(curve), output).length);
    return `${curve} ${built.join(", ")} bytes`;
  });
  return {
    status: "ok",
    found: `built from ${keys.length === 1 ? "the key" : `each of ${keys.length} keys`}: ${sizes.join("; ")}`,
  };
}
