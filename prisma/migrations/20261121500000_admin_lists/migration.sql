-- The operator's lists are read from the end of an index, the newest row first.
CREATE INDEX "project_network_id_idx" ON "project"("network", "id");
CREATE INDEX "api_key_project_id_id_idx" ON "api_key"("project_id", "id");
CREATE INDEX "audit_event_actor_id_idx" ON "audit_event"("actor", "id");
DROP INDEX "api_key_project_id_idx";
