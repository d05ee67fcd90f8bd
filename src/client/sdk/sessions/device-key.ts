/** The package's entry `threshold-signing-service/device-key`. It runs in pages, workers, on edges and in Node. */

/**
 * Opens the key of this device, which proves that a session's token is used where it was issued (DPoP, RFC 9449). Its
 * private part cannot leave the platform's cryptography. A browser keeps the key in IndexedDB until the site's data is
 * deleted. Elsewhere, and where the browser has no storage, the key lives as long as the returned object.
 *
 * @example
 * const device = await openDeviceKey();
 * await fetch("/my-backend/session", { method: "POST", body: device.thumbprint }); // for CreateSession
 */
export async function openDeviceKey(options: DeviceKeyOptions = {}): Promise<DeviceKey> {
  const { name = "default", storage = globalThis.indexedDB } = options;
  if (storage === undefined) return fromPair(await generate());
  const database = await openDatabase(storage).catch(() => undefined);
  // A page in a private window, or in a frame of another site, may have no storage.
  if (database === undefined) return fromPair(await generate());
  try {
    return await fromPair(
      (await readPair(database, name)) ?? (await keepFirst(database, name, await generate())),
    );
  } finally {
    database.close();
  }
}

/** The key of this device. */
export interface DeviceKey {
  /** Its RFC 7638 thumbprint, to which CreateSession binds a session. */
  readonly thumbprint: string;
  /** Signs a proof for one call. */
  signProof(call: CallToProve): Promise<string>;
}

/** Options of {@link openDeviceKey}. */
export interface DeviceKeyOptions {
  /** Distinguishes the keys of one site. Default `default`. */
  readonly name?: string | undefined;
  /** Where the key is kept. Default: the platform's IndexedDB, if it has one. */
  readonly storage?: IDBFactory | undefined;
}

/** A call that a proof is for. */
export interface CallToProve {
  /** The HTTP method. */
  readonly method: string;
  /** The absolute URL. Its query and fragment do not count. */
  readonly url: string;
  /** The session's token. Absent for a call that asks for one. */
  readonly token?: string | undefined;
  /** The service's last nonce, from a reply's header `dpop-nonce`. */
  readonly nonce?: string | undefined;
}

/** Returns the RFC 7638 thumbprint of a public key on P-256 or Ed25519, in the form of a JSON Web Key. */
export async function thumbprintOfKey({ kty, crv, x, y }: JsonWebKey): Promise<string> {
  // The required members in the order of their names.
  const members = kty === "EC" ? { crv, kty, x, y } : { crv, kty, x };
  if (Object.values(members).some((value) => value === undefined))
    throw new TypeError("the key lacks a member");
  return base64url(await digest(JSON.stringify(members)));
}

/**
 * Wraps a fetch so that it proves every call that has a bearer token, with the service's last nonce. If the service asks
 * for another nonce, it sends the call once more.
 */
export function createProvingFetch(
  device: DeviceKey | (() => Promise<DeviceKey>),
  send: typeof fetch = fetch,
): typeof fetch {
  let opened: Promise<DeviceKey> | undefined;
  let nonce: string | undefined;
  return async (input, init = {}) => {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
    const token = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (token === undefined) return send(input, init);
    opened ??= typeof device === "function" ? device() : Promise.resolve(device);
    // A device that failed once, such as in a frozen page, may work later.
    opened.catch(() => {
      opened = undefined;
    });
    const key = await opened;
    const url = input instanceof Request ? input.url : new URL(input, globalThis.location?.href).href;
    const method = (init.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
    const sendProved = async (target: typeof input) => {
      headers.set("dpop", await key.signProof({ method, url, token, nonce }));
      const reply = await send(target, { ...init, headers });
      nonce = reply.headers.get("dpop-nonce") ?? nonce;
      return reply;
    };
    const again = input instanceof Request ? input.clone() : input;
    const reply = await sendProved(input);
    // A body that is a stream cannot be sent again.
    const isRepeatable = !(init.body instanceof ReadableStream);
    if (reply.status !== 401 || reply.headers.get("dpop-nonce") === null || !isRepeatable) return reply;
    reply.body?.cancel().catch(() => {});
    return sendProved(again);
  };
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const STORE = "keys";

function generate(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
}

async function fromPair({ privateKey, publicKey }: CryptoKeyPair): Promise<DeviceKey> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const jwk = { kty, crv, x, y };
  const head = encodeJson({ typ: "dpop+jwt", alg: "ES256", jwk });
  return {
    thumbprint: await thumbprintOfKey(jwk as JsonWebKey),
    async signProof({ method, url, token, nonce }) {
      const { origin, pathname } = new URL(url);
      const claims = {
        jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
        iat: Math.floor(Date.now() / 1_000),
        htm: method,
        htu: `${origin}${pathname}`,
        ...(token !== undefined && { ath: base64url(await digest(token)) }),
        ...(nonce !== undefined && { nonce }),
      };
      const text = `${head}.${encodeJson(claims)}`;
      // WebCrypto's signature is r and s, as JWS needs it.
      const signature = await crypto.subtle.sign(ALGORITHM, privateKey, new TextEncoder().encode(text));
      return `${text}.${base64url(new Uint8Array(signature))}`;
    },
  };
}

function openDatabase(storage: IDBFactory): Promise<IDBDatabase> {
  const request = storage.open("threshold-signing-service", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE);
  };
  return settled(request);
}

async function readPair(database: IDBDatabase, name: string): Promise<CryptoKeyPair | undefined> {
  return await settled(database.transaction(STORE).objectStore(STORE).get(name));
}

/** Stores the pair unless another page was faster, in one transaction. Returns the stored pair. */
async function keepFirst(database: IDBDatabase, name: string, pair: CryptoKeyPair): Promise<CryptoKeyPair> {
  const store = database.transaction(STORE, "readwrite").objectStore(STORE);
  const earlier = (await settled(store.get(name))) as CryptoKeyPair | undefined;
  if (earlier !== undefined) return earlier;
  await settled(store.put(pair, name));
  return pair;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function encodeJson(value: unknown): string {
  return base64url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
