const TYPES = ['image/png', 'image/jpeg', 'image/webp'];
/** The limit of the service on the picture of a link. */
const MAX_BYTES = 32 * 1024;
const SIDES = [960, 720, 480, 320];
const QUALITIES = [0.85, 0.7, 0.55];

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error('The picture cannot be read.'));
    reader.readAsDataURL(blob);
  });
}

/**
 * Reads a picture as a `data:` URL. A photo of a phone has some MB, so a large one is made smaller until it fits.
 * @returns null for a file that is no picture
 */
export async function pictureOf(file: File): Promise<string | null> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    return null;
  }
  if (TYPES.includes(file.type) && file.size <= MAX_BYTES) return dataUrlOf(file);
  const canvas = document.createElement('canvas');
  for (const side of SIDES) {
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const context = canvas.getContext('2d');
    if (context === null) return null;
    // JPEG has no transparency: without a ground, clear parts turn black.
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    for (const quality of QUALITIES) {
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
      if (blob !== null && blob.size <= MAX_BYTES) return dataUrlOf(blob);
    }
  }
  return null;
}
