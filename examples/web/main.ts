/** Creates a key, signs with it, and resumes after a reload. README.md says how to run it. */
import {
  type NamedAddress,
  type OnboardStage,
  type SignStage,
  type TssClient,
  TssError,
} from "threshold-signing-service/sdk";
import { explain } from "./explain-error.ts";
import { toHex } from "./hex.ts";
import { ALGORITHMS, makeAndSign, openClient, type Stage, type Step, type Task } from "./make-and-sign.ts";
import { openLogin } from "./open-login.ts";

const KEY_STAGES: readonly OnboardStage[] = [
  ...(["network", "parameters", "keys", "register", "prepare"] as const),
  ...(["create", "dkg", "accept", "activate"] as const),
];
const SIGN_STAGES: readonly SignStage[] = [
  ...(["dwallet", "parameters", "share", "reserve", "compute"] as const),
  ...(["submit", "queued", "submitted", "verify"] as const),
];

const login = element("login", HTMLFormElement);
const providerLogin = element("provider-login", HTMLFormElement);
const userChoice = element("user", HTMLSelectElement);
const form = element("form", HTMLFormElement);
const fields = element("fields", HTMLFieldSetElement);
const baseUrl = element("base-url", HTMLInputElement);
const seed = element("seed", HTMLInputElement);
const makeSeed = element("make-seed", HTMLButtonElement);
const downloadSeed = element("download-seed", HTMLButtonElement);
const algorithm = element("algorithm", HTMLSelectElement);
const message = element("message", HTMLTextAreaElement);
const sign = element("sign", HTMLButtonElement);
const resume = element("resume", HTMLButtonElement);
const forget = element("forget", HTMLButtonElement);
const cancel = element("cancel", HTMLButtonElement);
const progress = element("progress", HTMLProgressElement);
const status = element("status", HTMLElement);
const failure = element("failure", HTMLElement);
const facts = element("facts", HTMLElement);
let abort = new AbortController();
/** A made seed that was not downloaded yet. A reload would lose it, and its key with it. */
let unsavedSeed = "";

const {
  user,
  users,
  serviceUrl,
  session,
  signIn,
  signOut,
  failure: loginFailure,
} = await openLogin().catch((error: unknown) => {
  failure.textContent = explain(error);
  throw error;
});
let known: { readonly baseUrl: string; readonly client: TssClient } | undefined;
/** The storage key of the user's task. */
const TASK = `threshold-signing-task ${user}`;
showUser();

for (const { curve, signatureAlgorithm, hashScheme } of ALGORITHMS)
  algorithm.add(new Option(`${curve}, ${signatureAlgorithm} with ${hashScheme}`));
algorithm.selectedIndex = 0;
const left = readTask();
baseUrl.value = left?.baseUrl ?? serviceUrl;
showButtons(false);
if (loginFailure !== undefined) failure.textContent = explain(loginFailure);

login.addEventListener("submit", (event) => {
  event.preventDefault();
  void reloadAfter(signIn(userChoice.value));
});
providerLogin.addEventListener("submit", (event) => {
  event.preventDefault();
  void reloadAfter(signIn(""));
});
element("sign-out", HTMLButtonElement).addEventListener("click", () => {
  abort.abort();
  void reloadAfter(signOut());
});
// What the page says of an earlier action is not true of other values.
form.addEventListener("input", () => showNothing());
seed.addEventListener("input", () => showButtons(false));
makeSeed.addEventListener("click", () => {
  seed.value = toHex(crypto.getRandomValues(new Uint8Array(32)));
  unsavedSeed = seed.value;
  showNothing();
  showButtons(false);
  downloadSeed.focus();
});
downloadSeed.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([seed.value]));
  link.download = "seed.hex";
  link.click();
  URL.revokeObjectURL(link.href);
  unsavedSeed = "";
  failure.textContent = "";
});
cancel.addEventListener("click", () => abort.abort());
forget.addEventListener("click", () => {
  keepTask(undefined);
  showNothing();
  showButtons(false);
  sign.focus();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (seed.value !== "" && !seed.reportValidity()) return;
  if (seed.value !== "" && seed.value === unsavedSeed) {
    failure.textContent =
      "Download the seed first. Without it nobody can sign with the key, and no one can replace it.";
    downloadSeed.focus();
    return;
  }
  const asked = { algorithm: algorithm.selectedIndex, message: message.value };
  // The user may correct the URL of the service, but not what an interrupted task signs.
  void run({ ...(readTask() ?? asked), baseUrl: baseUrl.value });
});

async function run(task: Task): Promise<void> {
  abort = new AbortController();
  showNothing();
  showButtons(true);
  cancel.focus();
  try {
    const { addresses, signature } = await makeAndSign(clientOf(task.baseUrl), task, seed.value, {
      signal: abort.signal,
      onStage: showStage,
      onKey: (known) => showFacts([...taskFacts(task), ...addressFacts(known)]),
      onTask: keepTask,
    });
    keepTask(undefined);
    progress.value = progress.max;
    status.textContent = "Done. The signature is verified.";
    showFacts([...taskFacts(task), ...addressFacts(addresses), ["signature", toHex(signature)]]);
    element("result-heading", HTMLElement).focus();
  } catch (error) {
    // A new action that failed permanently leaves nothing to resume.
    const isFinal = !(error instanceof TssError) || error.resumeToken === undefined;
    if (isFinal && task.token === undefined) keepTask(undefined);
    progress.value = 0;
    status.textContent = "Stopped.";
    failure.textContent = explain(error);
  } finally {
    showButtons(false);
    if (failure.textContent !== "") (resume.hidden ? sign : resume).focus();
  }
}

/** Keeps one client for each service that the user names. */
function clientOf(baseUrl: string): TssClient {
  if (known?.baseUrl !== baseUrl) known = { baseUrl, client: openClient(baseUrl, session) };
  return known.client;
}

/** Shows who is signed in, and what only a user can do. */
function showUser(): void {
  const isSignedIn = user !== undefined;
  for (const name of users ?? []) userChoice.add(new Option(name));
  if (isSignedIn && users !== undefined) userChoice.value = user;
  userChoice.disabled = isSignedIn;
  login.hidden = isSignedIn || users === undefined;
  providerLogin.hidden = isSignedIn || users !== undefined;
  element("signed-in", HTMLElement).hidden = !isSignedIn;
  element("user-name", HTMLElement).textContent = user ?? "";
  form.hidden = !isSignedIn;
}

/** Begins again with nothing of the other user in memory. */
async function reloadAfter(change: Promise<void>): Promise<void> {
  try {
    await change;
    location.reload();
  } catch (error) {
    failure.textContent = explain(error);
  }
}

/** Stores the task across reloads. It is public: the token, the service, and a message that the chain will store. */
function keepTask(task: Task | undefined): void {
  if (task === undefined) localStorage.removeItem(TASK);
  else localStorage.setItem(TASK, JSON.stringify(task));
}

function readTask(): Task | undefined {
  const kept = localStorage.getItem(TASK);
  return kept === null ? undefined : JSON.parse(kept);
}

function showStage(step: Step, stage: Stage): void {
  const stages: readonly string[] = step === "key" ? KEY_STAGES : SIGN_STAGES;
  const place = stages.indexOf(stage) + (step === "key" ? 0 : KEY_STAGES.length);
  progress.value = Math.max(progress.value, place);
  status.textContent = `The ${step}: ${stage}`;
}

/** Removes what the page says of an earlier action. */
function showNothing(): void {
  progress.value = 0;
  status.textContent = "Nothing in progress.";
  failure.textContent = "";
  showFacts([]);
}

/** Shows which buttons act now, and what an interrupted task signs, which cannot be changed. */
function showButtons(isBusy: boolean): void {
  const task = readTask();
  const hasLeft = task !== undefined;
  if (hasLeft) {
    algorithm.selectedIndex = task.algorithm;
    message.value = task.message;
  }
  algorithm.disabled = hasLeft;
  message.readOnly = hasLeft;
  fields.disabled = isBusy;
  sign.hidden = hasLeft;
  for (const shown of [resume, forget, element("left", HTMLElement)]) shown.hidden = !hasLeft || isBusy;
  sign.disabled = isBusy;
  cancel.disabled = !isBusy;
  makeSeed.disabled = seed.value !== "";
  downloadSeed.disabled = !seed.validity.valid;
}

function showFacts(rows: readonly (readonly [string, string])[]): void {
  facts.replaceChildren(
    ...rows.flatMap(([name, value]) => {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }),
  );
  element("result", HTMLElement).hidden = rows.length === 0;
}

function taskFacts(task: Task): [string, string][] {
  return [
    ["algorithm", algorithm.options[task.algorithm]?.text ?? ""],
    ["message", task.message],
  ];
}

function addressFacts(addresses: readonly NamedAddress[]): [string, string][] {
  return addresses.map(({ kind, address }) => [`${kind} address`, address]);
}

function element<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${id}`);
}
