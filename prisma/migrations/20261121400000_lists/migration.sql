-- Lists are read from the end of an index, the newest row first. Sign requests are read state by state.
CREATE INDEX "encryption_key_project_id_id_idx" ON "encryption_key"("project_id", "id");
CREATE INDEX "dwallet_project_id_id_idx" ON "dwallet"("project_id", "id");
CREATE INDEX "sign_request_project_id_status_id_idx" ON "sign_request"("project_id", "status", "id");
CREATE INDEX "sign_request_dwallet_id_status_id_idx" ON "sign_request"("dwallet_id", "status", "id");
