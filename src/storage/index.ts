export { fileNameOfType } from './file-name.js';
export { ObjectStorage, type StoredObject, type Upload } from './object-storage.js';
export { StorageModule } from './storage.module.js';
