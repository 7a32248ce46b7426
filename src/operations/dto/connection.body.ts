import { ApiProperty } from '@nestjs/swagger';
import { FEE_OPERATIONS, type FeeOperation } from '../../acquirers/index.js';
import { CursorListOf, EnumOf, Integer, NullableInteger, NullableTime, Text, Time } from '../../core/http/index.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class FeeBody {
  @EnumOf('`PIX`: one that comes in; `devolution`: money of one that goes back.', FEE_OPERATIONS)
  operation!: FeeOperation;
  @ApiProperty({
    description: 'Its first day in São Paulo. Of two of one day the later one of the list holds.',
    format: 'date',
    example: '2027-12-01',
  })
  valid_from!: string;
  @Integer('Basis points of the amount.', 99) bps!: number;
  @Integer('Cents on top.', 0) fixed!: number;
  @Integer('At least these cents.', 1) minimum!: number;
  @NullableInteger('At most these cents; null: no limit.', 1000) maximum!: number | null;
}

export class ConnectionBody {
  @Text('Id of the connection.', ID) id!: string;
  @EnumOf('Kind of object.', ['connection']) object!: 'connection';
  @Text('Whose.', ID) account_id!: string;
  @Text('Profile of the PSP.', 'efi') psp!: string;
  @Text('The Pix key that is charged to.', 'pix@example.com') pix_key!: string;
  @ApiProperty({ description: 'Whether new live charges of the account go there.', example: true }) in_use!: boolean;
  @ApiProperty({ description: 'What the PSP charges, by the first days.', type: [FeeBody] }) fees!: FeeBody[];
  @NullableTime('Until when its certificate holds; null where the PSP asks for none.', '2027-11-21T12:00:00.000Z')
  certificate_expires_at!: string | null;
  @NullableTime('When the address of its callbacks was last told to the PSP; null: never.', '2027-11-21T12:00:00.000Z')
  webhook_registered_at!: string | null;
  @Time('UTC.', '2027-11-21T12:00:00.000Z') created_at!: string;
  @Time('When it was last configured, UTC.', '2027-11-21T12:00:00.000Z') updated_at!: string;
}

export class ConnectionListBody extends CursorListOf(ConnectionBody) {}
