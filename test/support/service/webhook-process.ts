/** A worker that sends webhooks until it is killed. Argument: the database's URL. */
import { openTestPool } from "../database/test-pool.ts";
import { webhookWorker } from "./webhooks.ts";

const [url = ""] = process.argv.slice(2);
webhookWorker(await openTestPool(url)).start();
