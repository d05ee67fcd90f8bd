import { RpcFailure, Status } from "./fullnode/execution/failures.ts";
import { systemCommit } from "./fullnode/execution/system-transaction.ts";
import type { Ledger } from "./fullnode/objects/ledger.ts";
import { Coin } from "./fullnode/objects/object.ts";
import { coinObjectType, parseAddress, SUI_COIN_TYPE } from "./fullnode/objects/sui-types.ts";
import type { JsonRoute } from "./fullnode/wire/server.ts";

/** Creates a faucet for the ledger. Its grants are system commits. */
export function createFaucet(ledger: Ledger, ikaCoinType: string): Faucet {
  return async (recipient) => {
    const address = parseAddress(recipient, "recipient");
    const given: FaucetCoin[] = [];
    await ledger.exclusive((time) => {
      const name = `faucet/${ledger.chainId}/${time.checkpoint}`;
      const commit = systemCommit(ledger, time, name, [], (state) => {
        for (const type of [SUI_COIN_TYPE, coinObjectType(ikaCoinType)]) {
          const id = state.newId();
          const contents = Coin.serialize({ id, balance: FAUCET_AMOUNT }).toBytes();
          state.create({ id, type, contents, owner: { kind: "address", address } });
        }
      });
      for (const coin of commit.written) {
        given.push({
          id: coin.id,
          coinType: coin.type,
          amount: FAUCET_AMOUNT,
          transactionDigest: commit.digest,
        });
      }
      return commit;
    });
    return given;
  };
}

export interface FaucetCoin {
  readonly id: string;
  readonly coinType: string;
  readonly amount: bigint;
  readonly transactionDigest: string;
}

/** Gives an address one SUI and one IKA coin. */
export type Faucet = (address: string) => Promise<readonly FaucetCoin[]>;

/** 1,000 SUI and 1,000 IKA per request, in the smallest units. */
const FAUCET_AMOUNT = 1_000_000_000_000n;

/**
 * Returns the routes of the HTTP API of `requestSuiFromFaucetV2`: `/v2/gas` and the older `/gas`. The reply also has
 * the type of each coin, because this faucet gives two.
 */
export function faucetRoutes(faucet: Faucet): readonly JsonRoute[] {
  const handle: JsonRoute["handle"] = async (body) => {
    try {
      const coins = await faucet(recipientOf(body));
      const sent = coins.map((coin) => ({
        amount: Number(coin.amount),
        id: coin.id,
        coinType: coin.coinType,
        transferTxDigest: coin.transactionDigest,
      }));
      return { status: 200, json: { status: "Success", coins_sent: sent } };
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return { status: 400, json: { status: { Failure: { internal: error.message } }, coins_sent: null } };
    }
  };
  return [
    { method: "POST", path: "/v2/gas", handle },
    { method: "POST", path: "/gas", handle },
  ];
}

function recipientOf(body: Uint8Array): string {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    const { recipient } = (parsed as { FixedAmountRequest: { recipient: unknown } }).FixedAmountRequest;
    if (typeof recipient === "string") return recipient;
  } catch {
    // Falls through to the common error for a malformed body.
  }
  throw new RpcFailure(Status.InvalidArgument, "expected {FixedAmountRequest: {recipient}}");
}
