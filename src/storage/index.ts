export { attachment, safeFileName } from './file-name.js';
export { type Download, ObjectStorage, type StoredObject, type Upload } from './object-storage.js';
export { StorageModule } from './storage.module.js';
