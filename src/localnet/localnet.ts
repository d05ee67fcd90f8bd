import { startFullnodeServer } from "./fullnode/wire/server.ts";
import { type LocalChain, type LocalChainOptions, openLocalChain } from "./local-chain.ts";

/** Starts an Ika network with a listening Sui fullnode in this process. */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  const { answerCall, streamingMethods, routes, ...chain } = await openLocalChain(options);
  try {
    const { host = "127.0.0.1", port = 0, faucetPort, log = () => undefined } = options;
    const served = { host, log, answerCall, streamingMethods, routes, chainId: chain.chainId };
    const server = await startFullnodeServer({ ...served, port });
    const faucet =
      faucetPort === undefined
        ? undefined
        : await startFullnodeServer({ ...served, port: faucetPort }).catch(async (error: unknown) => {
            await server.close();
            throw error;
          });
    let closed: Promise<void> | undefined;
    return {
      ...chain,
      url: server.url,
      port: server.port,
      faucetUrl: (faucet ?? server).url,
      get ikaConfig() {
        return structuredClone(chain.ikaConfig);
      },
      close() {
        closed ??= Promise.all([server.close(), faucet?.close()]).then(() => chain.close());
        return closed;
      },
    };
  } catch (error) {
    await chain.close();
    throw error;
  }
}

/** A running local network. `close` first answers the pending requests. */
export interface Localnet extends Omit<LocalChain, "answerCall" | "streamingMethods" | "routes"> {
  /** The fullnode's base URL for `SuiGrpcClient`. It also serves the faucet. */
  readonly url: string;
  readonly port: number;
  /** The base URL of the faucet: that of the fullnode, unless the faucet has a port of its own. */
  readonly faucetUrl: string;
}

/** Options of a listening local network. All have defaults. */
export interface LocalnetOptions extends LocalChainOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** A second port, for clients that expect the faucet at one of its own; 0 for a free one. Default: none. */
  readonly faucetPort?: number | undefined;
}
