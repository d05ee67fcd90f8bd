import { CoordinatorInnerDynamicField } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { bindAnswers } from "../../../protocol/bind-answers.ts";
import { parseStruct } from "../../../protocol/chain-objects.ts";
import { type ChainReader, createChainReader } from "../../../protocol/chain-reader.ts";
import { DWalletCoordinator } from "../../../protocol/chain-structs.ts";
import { coordinatorInnerId } from "../../../protocol/coordinator-objects.ts";
import { NotChecked, needed, once } from "../../checks/health-check.ts";
import { fetchInTime } from "../../fetch-in-time.ts";
import type { NetworkTarget } from "./network-target.ts";

/** Opens the view without sending anything. */
export function openNetworkView({
  name,
  fullnodeUrl,
  chainIdentifier,
  ikaConfig,
}: NetworkTarget): NetworkView {
  const baseUrl = fullnodeUrl.reveal();
  const transport = new GrpcWebFetchTransport({ baseUrl, format: "binary", fetch: fetchInTime() });
  const client = new SuiGrpcClient({ network: name, transport: bindAnswers(transport) });
  const objects = createChainReader(client.core);
  const { objectID: coordinatorId } = ikaConfig.objects.ikaDWalletCoordinator;

  const rightChain = once(async () => {
    const found = await needed(client.core.getChainIdentifier(), "the fullnode does not answer");
    if (chainIdentifier !== undefined && found.chainIdentifier !== chainIdentifier)
      throw new NotChecked("the fullnode serves another chain");
  });
  const one = async (id: string, what: string): Promise<Uint8Array> => {
    const content = (await (await view.reader()).getObjects([id])).get(id);
    if (content === undefined) throw new Error(`the fullnode lacks ${what} ${id}`);
    return content;
  };
  const outer = once(() => one(coordinatorId, "the coordinator"));
  const innerContent = once(async () =>
    one(coordinatorInnerId(coordinatorId, await outer()), "the coordinator's state"),
  );
  const view: NetworkView = {
    client,
    innerContent,
    async reader() {
      await rightChain();
      return objects;
    },
    coordinator: once(async () => parseStruct("coordinator", DWalletCoordinator, await outer())),
    state: once(async () => {
      const content = await innerContent();
      try {
        return CoordinatorInnerDynamicField.parse(content).value;
      } catch (cause) {
        throw new Error("the Ika SDK of this version does not know the layout of the coordinator's state", {
          cause,
        });
      }
    }),
    async idsIn(tableId) {
      await view.reader();
      const { dynamicFields } = await client.core.listDynamicFields({ parentId: tableId, cursor: null });
      return dynamicFields.map(({ name: key }) => bcs.Address.parse(key.bcs));
    },
  };
  return view;
}

/**
 * A network as the checks see it. Reads each part on its first use. All parts throw {@link NotChecked} after a failed
 * step.
 */
export interface NetworkView {
  readonly client: SuiGrpcClient;
  /** Returns a reader of objects. Throws {@link NotChecked} if the fullnode serves another chain. */
  reader(): Promise<ChainReader>;
  coordinator(): Promise<CoordinatorHead>;
  /** The bytes of the coordinator's state. */
  innerContent(): Promise<Uint8Array>;
  state(): Promise<CoordinatorState>;
  /** Returns the keys of the entries on a table's first page, for a table with ids as keys. */
  idsIn(tableId: string): Promise<string[]>;
}

/** The coordinator's outer object. */
export type CoordinatorHead = (typeof DWalletCoordinator)["$inferType"];
/** The coordinator's state, as the Ika SDK reads it. */
export type CoordinatorState = (typeof CoordinatorInnerDynamicField)["$inferType"]["value"];
