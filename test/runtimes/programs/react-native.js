import { createClient } from "threshold-signing-client";
import settings from "./settings.mjs";
import sign from "./sign.cjs";

void sign(createClient, settings).then(globalThis.print, globalThis.print);
