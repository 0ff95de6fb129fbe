"""Invented words for clubs, people, towns and grounds. The three worlds share no stem and no ending of a name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from numpy.random import Generator

__all__ = ["WORDS", "Words", "WorldName", "first_name", "surname", "town"]


class WorldName(StrEnum):
    """The league for training, the one for validation, the one for the test."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The parts that one world's names are made of."""

    league: str
    country: str
    first: tuple[str, ...]
    stems: tuple[str, ...]  # of surnames
    endings: tuple[str, ...]
    places: tuple[str, ...]  # of towns
    place_endings: tuple[str, ...]
    clubs: tuple[str, ...]  # '{}' is the town
    grounds: tuple[str, ...]  # '{}' is a stem
    countries: tuple[str, ...]


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WORDS: dict[WorldName, Words] = {
    WorldName.TRAIN: Words(
        league="valdora_first-league",
        country="Valdora",
        first=_split(
            "Adran Belo Cassin Dorel Edvar Faron Gildo Hamil Ilar Jorven Kesto Lucen Marek Nilo Orsin Pavro Quill "
            "Rasmo Sandor Tavio Ulric Vanto Wendel Xandro Yoren Zelko Arvo Brano Corin Daven Elmo Fenno Henrel "
            "Jasko Kolbi Lando Mirel Nestor Otavio Petrin Rikard Stelan Tomas Urban Valko Wiktor"
        ),
        stems=_split(
            "Bar Cal Dem Fal Gor Hal Jan Kor Lam Mar Nor Pal Ras Sal Tar Var Bel Cor Del Fer Gal Hol Kar Len Mol Ner "
            "Per Rol Sem Tel Vol Zan Bren Crav Dran Frel Gren Kral Mard Pres Stav Trev Vern Zorn Alm Erl Ost Ull"
        ),
        endings=_split("ano ek ic ado ini ov ez ard on asco eta ulo ev ari ent oso"),
        places=_split(
            "Ald Bran Cast Dorn Eber Fron Grav Holm Karl Land Mont Nord Ols Port Riv Stein Tor Vald Wes Zell Arl Burg "
            "Crel Dal Elb Fors Glen Harn Lorn Merr Pell Quar Rond Sond Tarn Ulm Verd Wald"
        ),
        place_endings=_split("ia berg ford holm ona stadt ville mar burgo sund"),
        clubs=("{} United", "{} City", "Athletic {}", "{} Rovers", "Sporting {}", "{} Albion", "{} Town", "Racing {}"),
        grounds=("{} Park", "{} Road", "Estadio {}", "The {} Ground", "{} Arena"),
        countries=("Valdora", "Kestria", "Norvania", "Salmara", "Ostrel", "Brenland"),
    ),
    WorldName.VALIDATION: Words(
        league="ruskany_super-league",
        country="Ruskany",
        first=_split(
            "Amadu Basil Chidi Demba Emeka Femi Gibril Hakim Idris Jomo Kwame Lamin Musa Ngozi Obi Paki Rashid Sekou "
            "Tunde Usman Wale Yaya Zuri Ayo Bolaji Cheik Dauda Ekon Folar Habib"
        ),
        stems=_split(
            "Abu Bak Chu Dio Eke Fof Gue Hou Iwo Jal Kab Lum Mbe Ndi Oke Pou Ruk Sou Tch Uch Wan Yob Zak Bou Dja Nko"
        ),
        endings=_split("bara dou gaya kele mba nde sse wori yemi tua"),
        places=_split("Abo Bam Chel Dak Ese Fum Guin Hou Jebb Kano Lag Mop Nia Oyu Rab Sik Tam Wag Yam Zin"),
        place_endings=_split("dara kouma lossa nare poli rua tika"),
        clubs=("{} Stars", "Olympic {}", "{} Wanderers", "Union {}", "{} Eagles"),
        grounds=("Stade {}", "{} Bowl", "{} National"),
        countries=("Ruskany", "Damara", "Oyunda", "Kelembe"),
    ),
    WorldName.TEST: Words(
        league="hyperia_premier-division",
        country="Hyperia",
        first=_split(
            "Aito Botan Chise Daigo Enzoku Fuji Genji Haruto Isamu Jiro Kaito Lenji Makoto Naoki Osamu Ryo Shinya "
            "Takeo Umeji Washi Yuto Zenko Akio Banri Chikao Eiji Goro Hideki Itsuki Kenji Minoru Noboru Satoru Tetsu"
        ),
        stems=_split(
            "Aki Bun Chiy Dai Eno Fuk Gin Hish Ishi Jun Kaw Kuro Mats Naga Oku Rin Shim Taka Uen Wata Yama Zush Asa "
            "Hira Kita Mori Nishi Saka Tsuk Yoshi Hoshi Komo"
        ),
        endings=_split("gawa hara kuchi moto nishi oka saki tani uchi waka yoka zumi"),
        places=_split(
            "Aomi Biwa Edogo Fusa Gifo Hako Iwaki Kobu Mino Nara Oita Sendo Toya Uji Wako Yoko Zama Hiko Kuma Mura"
        ),
        place_endings=_split("beshi jima kawa matsu nohe shiro taki zaki"),
        clubs=("{} FC", "Dynamo {}", "{} Athletic Union", "Real {}", "{} Victoria", "FC {}"),
        grounds=("{} Dome", "{} Field", "{} Memorial Stadium", "{} Gardens"),
        countries=("Hyperia", "Tsurugi", "Amakusa", "Kitara"),
    ),
}


def first_name(words: Words, rng: Generator) -> str:
    return words.first[int(rng.integers(len(words.first)))]


def surname(words: Words, rng: Generator) -> str:
    """A stem and an ending; now and then two stems, so that a league does not run out."""
    stem = words.stems[int(rng.integers(len(words.stems)))]
    middle = words.stems[int(rng.integers(len(words.stems)))].lower() if rng.random() < 0.35 else ""
    return stem + middle + words.endings[int(rng.integers(len(words.endings)))]


def town(words: Words, rng: Generator) -> str:
    place = words.places[int(rng.integers(len(words.places)))]
    return place + words.place_endings[int(rng.integers(len(words.place_endings)))]
