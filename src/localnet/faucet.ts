import { RpcFailure, Status } from "./fullnode/execution/failures.ts";
import { systemCommit } from "./fullnode/execution/system-transaction.ts";
import type { Ledger } from "./fullnode/objects/ledger.ts";
import { Coin } from "./fullnode/objects/object.ts";
import { coinObjectType, parseAddress, SUI_COIN_TYPE } from "./fullnode/objects/sui-types.ts";
import type { JsonRoute } from "./fullnode/wire/server.ts";

/**
 * Creates a faucet for the ledger, which gives `coinCount` coins of each kind. Its grants are system commits. Throws a
 * RangeError for a number of coins that is not from 1 to {@link FAUCET_COINS_MAX_COUNT}.
 */
export function createFaucet(ledger: Ledger, ikaCoinType: string, coinCount = 1): Faucet {
  if (!Number.isInteger(coinCount) || coinCount < 1 || coinCount > FAUCET_COINS_MAX_COUNT)
    throw new RangeError(`a faucet gives 1 to ${FAUCET_COINS_MAX_COUNT} coins of each kind`);
  return async (recipient) => {
    const address = parseAddress(recipient, "recipient");
    const given: FaucetCoin[] = [];
    await ledger.exclusive((time) => {
      const name = `faucet/${ledger.chainId}/${time.checkpoint}`;
      const commit = systemCommit(ledger, time, name, [], (state) => {
        for (const type of [SUI_COIN_TYPE, coinObjectType(ikaCoinType)]) {
          for (let count = 0; count < coinCount; count++) {
            const id = state.newId();
            const contents = Coin.serialize({ id, balance: FAUCET_AMOUNT }).toBytes();
            state.create({ id, type, contents, owner: { kind: "address", address } });
          }
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

/** Gives an address SUI and IKA coins. */
export type Faucet = (address: string) => Promise<readonly FaucetCoin[]>;

/** The most coins of each kind that a faucet gives at once. */
export const FAUCET_COINS_MAX_COUNT = 50;

/** 1,000 SUI or 1,000 IKA in each coin, in the smallest units. */
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
